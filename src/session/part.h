// SPDX-License-Identifier: Apache-2.0
/*
 * One recording while it is made: its tables, its file, and what is counted for it. A session makes
 * one, or one after the other.
 *
 *   new ──> open ──> { samples, flush }... ──> finish ──> free
 */
#pragma once

#include <stdint.h>

#include "profile/recording.h"
#include "session/options.h"

struct part {
    struct profile *profile;
    event_id cpu, wall;              /* 0: not recorded */
    struct recording_writer *writer; /* NULL: not open */
    struct recording_totals totals;
    struct thread_times threads;
    uint64_t begin;                      /* ns, CLOCK_MONOTONIC; 0: not yet */
    uint64_t newest;                     /* the same, of a sample that was appended */
    uint64_t lost_before, cpu_ns_before; /* what was counted until then */
};

/* `before`: the part that it follows, finished, and where it begins; NULL: it begins when it is
 * opened. */
struct part *part_new(const struct session_options *options, const struct part *before);
void part_free(struct part *part);

/* Write to `fd`, which is taken over, also on failure. The times in the header are the part's. */
int part_open(struct part *part, int fd, const struct recording_header *header,
              struct error *error);

/* A sample of before the part began, of which only now is known what it stands for, is put where it
 * begins. */
int part_append(struct part *part, const struct sample *sample, struct error *error);

/* Write out what is complete. `lost`: samples that the kernel dropped so far, in all parts. */
int part_flush(struct part *part, uint64_t lost, struct error *error);

/* End it now. What reads it is handed out as recording_finish() does. */
int part_finish(struct part *part, uint64_t lost, int *ret_fd, struct error *error);
