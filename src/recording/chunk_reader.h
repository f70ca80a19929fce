// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the chunks of a recording (recording_format.h) from a file or a pipe, one by one. Each
 * chunk is checked and unpacked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/recording_format.h"
#include "util/error.h"

struct chunk_reader;

struct chunk {
    enum chunk_type type;
    const uint8_t *data; /* valid until the next chunk_read() */
    size_t size;
    uint64_t offset; /* in the file */
};

/* Read magic and version. Takes ownership of `fd`, also on failure. `name` is for messages. NULL
 * with error. */
struct chunk_reader *chunk_reader_new(int fd, const char *name, struct error *error);
void chunk_reader_free(struct chunk_reader *reader);

/* Return 1 with a chunk, 0 at the end of the file, or -1 with error if the file can't be read or
 * the bytes are not a chunk. At the end of the file, *ret_cut is true if it ends inside a chunk. */
int chunk_read(struct chunk_reader *reader, struct chunk *ret_chunk, bool *ret_cut,
               struct error *error);

/* Set the error "NAME: byte 1234: `problem`", for a complete chunk whose content is invalid at its
 * unpacked byte `at`. Return -1. */
int chunk_malformed(const struct chunk_reader *reader, const struct chunk *chunk, size_t at,
                    const char *problem, struct error *error);
