// SPDX-License-Identifier: Apache-2.0
/* The wall event of a session: the sweeps of each target, and their summary in the recording.
 * Targets without sweeps are skipped. */
#pragma once

#include "session/options.h"
#include "session/segment.h"
#include "session/targets.h"
#include "session/wall.h"

/* Begin the sweeps of a target, if the wall event is recorded. Borrows its VM and symbolizer. */
int walls_add(struct target *target, const struct session_options *options,
              const struct segment *segment, struct error *error);

/* Run the sweeps that are due, and append the samples whose stacks are known by now. */
int walls_step(const struct targets *targets, struct segment *segment, struct error *error);

/* Return `timeout_ms`, or less if a sweep is due before. */
int walls_limit_timeout(const struct targets *targets, int timeout_ms);

/* Append the samples that still wait. */
int walls_finish(const struct targets *targets, struct segment *segment, struct error *error);

/* Write the summary, if the wall event is recorded. */
int walls_put_summary(const struct targets *targets, struct segment *segment, struct error *error);

/* Begin the next segment, which follows `before`. */
void walls_begin(const struct targets *targets, const struct segment *before,
                 struct segment *segment);
