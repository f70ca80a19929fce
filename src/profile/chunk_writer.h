// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the chunks of a recording (recording_format.h): a chunk is in the file as a whole or not
 * at all. After the first error the file ends with its last whole chunk, and stays so.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "profile/recording_format.h"
#include "util/error.h"

struct chunk_writer;

/* Takes `fd` over and writes magic and version; on failure `fd` is closed. */
struct chunk_writer *chunk_writer_new(int fd, struct error *error);
int chunk_write(struct chunk_writer *writer, enum chunk_type type, const void *data, size_t size,
                struct error *error);
/* 0 while all went well, -1 with the error of the first failure after it. */
int chunk_writer_check(const struct chunk_writer *writer, struct error *error);
/* Bytes in the file. */
uint64_t chunk_writer_size(const struct chunk_writer *writer);
/* Frees the writer. Returns the descriptor, which the caller owns now. */
int chunk_writer_release(struct chunk_writer *writer);
