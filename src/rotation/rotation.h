// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the outputs of segments while sampling continues: each segment in a child process, one at
 * a time.
 *
 * The rendering child does not delay the sampling process, and its errors do not end the recording.
 * If the sampling process is killed, the child continues and finishes its outputs.
 *
 *   new ──> { create ──> (the segment is recorded) ──> write }... ──> finish
 */
#pragma once

#include <stdbool.h>
#include <time.h>

#include "rotation/options.h"
#include "util/error.h"

struct rotation;

/* `node`: for names. Borrows all. */
struct rotation *rotation_new(const struct segment_files *files,
                              const struct session_options *session, const char *node,
                              const struct rotation_reports *reports);

/* Create the file to record the next segment into. `seconds`: since 1970, for its names. -1 with
 * error. */
int rotation_create(struct rotation *rotation, time_t seconds, struct error *error);

/* Remove the file that was created. Nothing was recorded into it. */
void rotation_drop(struct rotation *rotation);

/* True if a child still writes an earlier segment. Then the current segment should continue. */
bool rotation_is_busy(struct rotation *rotation);

/* Wait until the child has ended, if there is one. */
void rotation_wait(struct rotation *rotation);

/* Write the outputs of the segment that was created, and give its recording the final name, in the
 * background. Waits first if a child still writes an earlier segment. Takes over `fd`, which reads
 * the recording; -1: it can't be read. `whole`: the segment was recorded to its end. Otherwise the
 * caller has reported the reason. */
void rotation_write(struct rotation *rotation, int fd, bool whole);

/* The same for a segment that was recorded in several pieces. The child joins them into `file`, the
 * file that was created (recording/recording_join.h). `trigger` may be NULL. Takes over all
 * descriptors. */
void rotation_join(struct rotation *rotation, const int *pieces, size_t count, const char *trigger,
                   int file, bool whole);

/* Save the pieces of a segment whose file could not be created, joined, in another directory. Takes
 * over their descriptors. */
void rotation_keep(struct rotation *rotation, const int *pieces, size_t count, const char *trigger);

struct rotation_counts {
    unsigned written, empty, failed; /* each segment is one of these */
    unsigned cut;                    /* ended early, because recording failed */
    unsigned late;                   /* longer than requested: one before was still being written */
};

/* Wait for the last child, and free. Returns the counts of all segments. */
struct rotation_counts rotation_finish(struct rotation *rotation);
