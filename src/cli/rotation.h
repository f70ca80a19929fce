// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the outputs of segments while sampling continues: each segment in a child process, one at
 * a time. The code calls a segment a part.
 *
 * The rendering child does not delay the sampling process, and its errors do not end the recording.
 * If the sampling process is killed, the child continues and finishes its outputs.
 *
 *   new ──> { create ──> (the segment is recorded) ──> write }... ──> finish
 */
#pragma once

#include <stdbool.h>
#include <time.h>

#include "cli/options.h"
#include "util/error.h"

struct rotation;

/* `recording`: path of recordings, or NULL if they are not requested. `node`: for names. Borrows
 * all. */
struct rotation *rotation_new(const struct record_options *options, const char *recording,
                              const char *node);

/* Create the file to record the next segment into. `seconds`: since 1970, for its names. -1 with
 * error. */
int rotation_create(struct rotation *rotation, time_t seconds, struct error *error);

/* Remove the file that was created. Nothing was recorded into it. */
void rotation_drop(struct rotation *rotation);

/* True if a child still writes an earlier segment. Then the current segment should continue. */
bool rotation_is_busy(struct rotation *rotation);

/* Write the outputs of the segment that was created, and give its recording the final name, in the
 * background. Waits first if a child still writes an earlier segment. Takes over `fd`, which reads
 * the recording; -1: it can't be read. `whole`: the segment was recorded to its end. Otherwise the
 * caller has reported the reason. */
void rotation_write(struct rotation *rotation, int fd, bool whole);

/* The same for a segment that was recorded in several pieces. The child joins them into `file`, the
 * file that was created (recording/recording_join.h). Takes over all descriptors. */
void rotation_join(struct rotation *rotation, const int *pieces, size_t count, const char *trigger,
                   int file, bool whole);

/* Wait for the last child, report problems, and free. Returns the exit code. */
int rotation_finish(struct rotation *rotation);
