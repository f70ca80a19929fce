// SPDX-License-Identifier: Apache-2.0
/*
 * Encodes a profile's tables and its samples as records of CHUNK_RECORDS (recording_format.h), and
 * decodes them. One encoder or decoder serves a whole recording.
 */
#pragma once

#include <stdbool.h>

#include "profile/profile.h"
#include "util/buffer.h"
#include "util/cursor.h"
#include "util/intern.h"

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
