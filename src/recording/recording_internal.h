// SPDX-License-Identifier: Apache-2.0
/* What the reader, the writer and the joining of recordings share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/event_summary.h"
#include "profile/late_names.h"
#include "profile/profile.h"
#include "profile/profile_remap.h"
#include "profile/threads.h"
#include "recording/recording.h"
#include "recording/recording_format.h"
#include "util/buffer.h"
#include "util/cursor.h"
#include "util/error.h"
#include "util/id_map.h"
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

/* The version of the recording's format. */
uint32_t chunk_reader_version(const struct chunk_reader *reader);

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
    struct metrics *metrics; /* by id in `processes` - 1: metrics of the process' newest sample */
    uint32_t metrics_room;
};

/* Reset the base. Call it for each chunk, and to free the base. */
void record_base_reset(struct record_base *base);

/* The base of the metrics in the process' next sample, all zero at first. Valid until the next
 * call. */
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
    struct profile_counts counts; /* table entries of other kinds than `ids` that were decoded */
    struct late_names names;      /* set before the first record */
    /* The entries that were decoded. A late name can make two of them one in the profile. */
    struct recorded_ids {
        struct id_map strings, frames, stacks;
    } ids;
    bool sampled;    /* a sample was decoded */
    uint64_t last;   /* time of the newest sample */
    uint64_t frames; /* of all samples */
    struct depths stacks, ancestors;
    struct depths late; /* the same for the frames of stacks that have late names */
};

void record_decoder_free(struct record_decoder *decoder);

/* Return the number of frames with late names in the stack of the newest sample. */
uint32_t record_decoder_late_frames(const struct record_decoder *decoder);

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
 * as in `base`. */
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

/* ---- reorder.c ---- */

/*
 * Sorts samples that come slightly out of order. Each sample waits in a heap until a sample has
 * come that is REORDER_NS newer, or the source was looked at as long after it, and until no older
 * sample is known to come.
 */

/* Samples of probes come late because they wait for their window to close. CPU samples come late
 * because they wait for the ring buffer to be read. */
#define REORDER_NS (500ull * 1000 * 1000)
/* Limits memory. No rate that the kernel allows gives more samples than this in 500 ms. */
#define REORDER_MAX ((size_t)256 << 10)

struct reorder {
    struct reorder_item *items;
    size_t count, capacity;
    uint64_t sequence; /* keeps the order of samples with equal times */
    uint64_t newest;   /* time of the newest sample that came, or of the last look for samples */
    uint64_t wait_for; /* samples from this time on are known to come; UINT64_MAX: none */
    uint64_t last;     /* time of the newest sample that was popped */
    uint64_t late;     /* samples that came too late and got the time `last` */
};

void reorder_free(struct reorder *reorder);
void reorder_push(struct reorder *reorder, const struct sample *sample);
/* Take the next sample that has waited long enough or, with `all`, the next one in any case. False
 * if there is none. */
bool reorder_pop(struct reorder *reorder, bool all, struct sample *ret_sample);

/* ---- summary_join.c ---- */

/*
 * Joins the counts of several recordings, as if they came from one. Each function adds the counts
 * of the next recording to a sum, which is all zero at first. `remap` copies from the profile of
 * the next recording to the joined one. `shift` is added to the times of the next recording
 * (wrapping).
 */

void summary_join_totals(struct recording_totals *totals, const struct recording_totals *next,
                         uint64_t shift);

/* `event` is the id in the joined profile. Histograms and tallies beyond the maximum of a summary
 * are dropped. */
void summary_join_events(struct event_summaries *summaries, event_id event,
                         struct profile_remap *remap, const struct event_summary *next);

/* The time between two recordings is not counted, so a thread's `to` is earlier than its real end.
 */
void summary_join_threads(struct thread_times *times, struct profile_remap *remap,
                          const struct thread_times *next, uint64_t shift);

/* Return the number of readings that are left out, because there are NODE_SERIES_MAX series. */
uint64_t summary_join_node_metrics(struct node_metrics *metrics, struct profile_remap *remap,
                                   const struct node_metrics *next, uint64_t shift);

/* Marks beyond TIME_MARKS_MAX are left out. */
void summary_join_marks(struct time_marks *marks, struct profile_remap *remap,
                        const struct time_marks *next, uint64_t shift);

void summary_join_lives(struct target_lives *lives, struct profile_remap *remap,
                        const struct target_lives *next, uint64_t shift);
