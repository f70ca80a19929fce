// SPDX-License-Identifier: Apache-2.0
/*
 * A segment: one recording while it is written, with its tables, its file and its counts. A session
 * writes one, or several in turn.
 *
 *   new ──> open ──> { samples, flush }... ──> finish ──> free
 */
#pragma once

#include <stdint.h>

#include "recording/recording.h"
#include "session/options.h"

struct segment {
    struct profile *profile;
    event_id cpu, wall;              /* 0: not recorded */
    struct recording_writer *writer; /* NULL: not open */
    struct recording_totals totals;
    struct thread_times threads;
    struct target_lives lives;
    struct time_marks marks;             /* what is not written yet */
    size_t mark_count;                   /* all */
    struct event_spans spans;            /* what is not written yet */
    struct node_metrics node_metrics;    /* the same */
    uint64_t begin;                      /* ns, CLOCK_MONOTONIC; 0: not begun */
    uint64_t newest;                     /* the same: newest sample that was appended */
    uint64_t held;                       /* the same: as in segment_set_held() */
    uint64_t lost_before, cpu_ns_before; /* counts of all segments before */
};

/* `before` is a finished segment: the new one begins at its end. NULL: the new one begins at
 * `begin` if the caller sets it, else when it is opened. */
struct segment *segment_new(const struct session_options *options, const struct segment *before);
void segment_free(struct segment *segment);

/* Begin a recording in `fd`; takes ownership, also on failure. The start times in its header are
 * the segment's, not *header's. */
int segment_open(struct segment *segment, int fd, const struct recording_header *header,
                 struct error *error);

/* Append a sample. The scale of a sample may become known only in the next segment; such a sample
 * gets the time at which the segment began. */
int segment_append(struct segment *segment, const struct sample *sample, struct error *error);

/* Samples from `time` on are held until their values are known, and appended then. UINT64_MAX:
 * none. A program that gets little CPU time appends them late. Newer samples wait, so that their
 * times stay right. */
void segment_set_held(struct segment *segment, uint64_t time);

/* As recording_writer_looked(). */
void segment_looked(struct segment *segment, uint64_t time);

/* segment_set_held() for one more sample. */
void segment_hold(struct segment *segment, uint64_t time);

/* Write all complete data. `lost`: samples that the kernel has dropped so far, in all segments. */
int segment_flush(struct segment *segment, uint64_t lost, struct error *error);

/* End the segment now. *ret_fd as in recording_finish(). */
int segment_finish(struct segment *segment, uint64_t lost, int *ret_fd, struct error *error);
