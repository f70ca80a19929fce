// SPDX-License-Identifier: Apache-2.0
/* Event `wall` of a session: the sweeps of each target, and what they come to in its recording. */
#pragma once

#include "session/options.h"
#include "session/part.h"
#include "session/targets.h"
#include "session/wall.h"

/* All zero is none. */
struct walls {
    struct wall *of[PIDS_MAX];
    size_t count;
};

/* Sweeps begin, where the options ask for them. All are borrowed. */
int walls_start(struct walls *walls, const struct session_options *options,
                const struct targets *targets, struct symbolizer *const *symbolizers,
                struct part *part, struct error *error);
void walls_free(struct walls *walls);

/* The sweeps that are due, and samples that are known by now. */
int walls_step(struct walls *walls, struct part *part, struct error *error);

/* `timeout_ms`, but no longer than until the next sweep. */
int walls_limit_timeout(const struct walls *walls, int timeout_ms);

/* Samples that still wait. */
int walls_finish(struct walls *walls, struct part *part, struct error *error);

int walls_put_summary(const struct walls *walls, struct part *part, struct error *error);

/* Go on in another part, which follows `before`. */
void walls_begin(struct walls *walls, const struct part *before, struct part *part);
