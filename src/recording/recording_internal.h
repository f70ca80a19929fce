// SPDX-License-Identifier: Apache-2.0
/* What the reader, the writer and the joining of recordings share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "recording/recording.h"
#include "recording/recording_format.h"
#include "util/buffer.h"
#include "util/cursor.h"
#include "util/error.h"
#include "util/intern.h"

/* ---- chunks.c ---- */

/*
 * Reads the chunks of a recording (recording_format.h) from a file or a pipe, one by one. Each
 * chunk is checked and unpacked.
 */

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

/*
 * Encodes a profile's tables and its samples as records of CHUNK_RECORDS (recording_format.h), and
 * decodes them. One encoder or decoder serves a whole recording.
 */

/* The values that numbers in the next record are relative to. */
struct record_base {
    uint64_t address; /* of the previous frame */
    struct sample sample;
    struct intern processes; /* with metrics in this chunk */
    struct metrics *metrics; /* by id in `processes` - 1: those of the process' newest sample */
    uint32_t metrics_room;
};

/* Reset the base. Call it for each chunk, and to free the base. */
void record_base_reset(struct record_base *base);

/* The metrics that those of the process' next sample are relative to, all zero at first. Valid
 * until the next call. */
struct metrics *record_base_metrics(struct record_base *base, process_id process);

/* Make `metrics` the newest ones of the process. A metric that it does not know keeps its last
 * value. */
void record_base_set_metrics(struct metrics *base, const struct metrics *metrics);

static inline uint64_t record_base_value(const struct record_base *base, event_id event, uint32_t i)
{
    return base->sample.event == event ? base->sample.values[i] : 0;
}

struct record_encoder {
    struct record_base base;       /* reset for each chunk */
    struct profile_counts encoded; /* table entries that were encoded */
    bool sampled;                  /* a sample was encoded: no event may follow */
};

/* Append the next table entry that was not encoded yet; false if there is none. Strings and other
 * entries come before those that refer to them. */
bool record_encode_entry(struct record_encoder *encoder, const struct profile *profile,
                         struct buffer *records);
void record_encode_sample(struct record_encoder *encoder, const struct profile *profile,
                          const struct sample *sample, struct buffer *records);

/* The number of entries in each chain of entries of one kind, by id. */
struct depths {
    uint32_t *of;
    size_t room;
};

struct record_decoder {
    struct record_base base;      /* reset for each chunk */
    struct profile_counts counts; /* table entries that were decoded */
    bool sampled;                 /* a sample was decoded */
    uint64_t last;                /* time of the newest sample */
    uint64_t frames;              /* of all samples */
    struct depths stacks, ancestors;
};

void record_decoder_free(struct record_decoder *decoder);

/* Decode one record. An entry is added to the profile. A sample is stored in *ret_sample, and the
 * result is true. On error, cursor->problem is set and the result is false. */
bool record_decode(struct record_decoder *decoder, struct cursor *cursor, struct profile *profile,
                   struct sample *ret_sample);

/* ---- join_header.c ---- */

/* The header of a recording that joins several recordings. */

/* A header and the texts that it owns; header.event is borrowed. */
struct join_header {
    struct recording_header header;
    char *hostname, *kernel, *command, *version, *trigger;
    bool several_hosts;
};

/* Combine `headers`: each text once, and the CPUs of each host once. Start, frequency and event are
 * those of `base`. */
void join_header_make(struct join_header *joined, const struct recording_header *const *headers,
                      size_t count, const struct recording_header *base);
void join_header_free(struct join_header *joined);

/* The header of the recording that began first. Headers without a start time are ignored, unless
 * none has one. */
const struct recording_header *join_header_first(const struct recording_header *const *headers,
                                                 size_t count);

/* The offset (wrapping) that turns times of `header` into times of `base`. It is 0 if both have the
 * same clock; else it follows from real time. If that is not known, both recordings begin together.
 */
uint64_t join_header_shift(const struct recording_header *base,
                           const struct recording_header *header);
