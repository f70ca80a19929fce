// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the chunks of a recording (recording_format.h). A chunk is written as a whole or not at
 * all. After the first error a file ends with its last whole chunk, and nothing more is written. A
 * pipe can end inside a chunk.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "recording/recording_format.h"
#include "util/error.h"

struct chunk_writer;

/* Take ownership of `fd` and write magic and version. On failure, close `fd` and return NULL with
 * error. */
struct chunk_writer *chunk_writer_new(int fd, struct error *error);
int chunk_write(struct chunk_writer *writer, enum chunk_type type, const void *data, size_t size,
                struct error *error);
/* Return 0, or -1 with the first error that occurred. */
int chunk_writer_check(const struct chunk_writer *writer, struct error *error);
/* Return the number of bytes in the file. */
uint64_t chunk_writer_size(const struct chunk_writer *writer);
/* Free the writer. Return its descriptor, which the caller owns then. */
int chunk_writer_release(struct chunk_writer *writer);
