// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the chunks of a recording (recording_format.h) from a file or a pipe, one by one, checked
 * and unpacked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/recording_format.h"
#include "util/error.h"

struct chunk_reader;

struct chunk {
    enum chunk_type type;
    const uint8_t *data; /* valid until the next chunk_read() */
    size_t size;
    uint64_t offset; /* in the file */
};

/* Takes `fd` over, also on failure; reads magic and version. `name` is for messages. */
struct chunk_reader *chunk_reader_new(int fd, const char *name, struct error *error);
void chunk_reader_free(struct chunk_reader *reader);

/* 1 and a chunk; 0 at the end of the file, where *ret_cut tells whether it ends inside of a chunk;
 * -1 if the bytes are not a chunk. */
int chunk_read(struct chunk_reader *reader, struct chunk *ret_chunk, bool *ret_cut,
               struct error *error);

/* "NAME: byte 1234: `problem`", for a chunk that is whole but makes no sense at its unpacked byte
 * `at`. Returns -1. */
int chunk_malformed(const struct chunk_reader *reader, const struct chunk *chunk, size_t at,
                    const char *problem, struct error *error);
