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

/* Return the checksum of a chunk: of its header up to the checksum, and of its stored bytes. */
uint32_t chunk_crc(const void *header, const void *stored, size_t size);

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

/* Return the offset of the last whole chunk of a type; 0 if there is none, or if the file is a
 * pipe. Only the headers of chunks are read and checked. */
uint64_t chunk_find_last(struct chunk_reader *reader, enum chunk_type type);

/* Continue with the chunk at this offset. Return 0, or -1 with error. */
int chunk_seek(struct chunk_reader *reader, uint64_t offset, struct error *error);

/* The name of the file, for messages. */
const char *chunk_reader_name(const struct chunk_reader *reader);

/* Return the number of bytes that were read. */
uint64_t chunk_reader_offset(const struct chunk_reader *reader);

/* Set the error "NAME: byte 1234: `problem`", for a complete chunk whose content is invalid at its
 * unpacked byte `at`. Return -1. */
int chunk_malformed(const struct chunk_reader *reader, const struct chunk *chunk, size_t at,
                    const char *problem, struct error *error);

/*
 * Writes the chunks of a recording (recording_format.h). A chunk is written as a whole or not at
 * all. After the first error a file ends with its last whole chunk, and nothing more is written. A
 * pipe can end inside a chunk.
 */

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
