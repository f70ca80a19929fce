// SPDX-License-Identifier: Apache-2.0
/* The wall event of a session: the sweeps of each target, and their summary in the recording. */
#pragma once

#include "session/options.h"
#include "session/segment.h"
#include "session/targets.h"
#include "session/wall.h"

/* All zero is empty. */
struct walls {
    struct wall *of[PIDS_MAX];
    size_t count;
};

/* Begin the sweeps, if the wall event is recorded. Borrows the VMs and symbolizers. */
int walls_start(struct walls *walls, const struct session_options *options,
                const struct targets *targets, struct symbolizer *const *symbolizers,
                struct segment *segment, struct error *error);
void walls_free(struct walls *walls);

/* Run the sweeps that are due, and append the samples whose stacks are known by now. */
int walls_step(struct walls *walls, struct segment *segment, struct error *error);

/* Return `timeout_ms`, or less if a sweep is due before. */
int walls_limit_timeout(const struct walls *walls, int timeout_ms);

/* Append the samples that still wait. */
int walls_finish(struct walls *walls, struct segment *segment, struct error *error);

int walls_put_summary(const struct walls *walls, struct segment *segment, struct error *error);

/* Begin the next segment `part`, which follows `before`. */
void walls_begin(struct walls *walls, const struct segment *before, struct segment *segment);
