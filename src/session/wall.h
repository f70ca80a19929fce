// SPDX-License-Identifier: Apache-2.0
/*
 * Event `wall`: what processes do in time, whether they run or not. Sweeps over the processes of a
 * VM at a rate of its own; each process that is met stands for the time since the sweep before, and
 * where only some are met, by chance, for the others too.
 *
 *   at rest    its stack is read out of memory
 *   running    its stack is that of a CPU sample of it, next to the sweep
 */
#pragma once

#include "beam/vm.h"
#include "session/part.h"
#include "session/top_option.h"
#include "symbol/symbolizer.h"
#include "util/error.h"

struct wall_options {
    uint32_t frequency;    /* of sweeps, a second */
    uint64_t cpu_interval; /* ns between CPU samples */
    struct top_option top; /* only these processes */
};

struct wall;

/* All are borrowed. NULL with error. */
struct wall *wall_new(struct vm *vm, struct symbolizer *symbolizer,
                      const struct wall_options *options, struct error *error);
void wall_free(struct wall *wall);

/* ns until the next sweep is due, at `now` (CLOCK_MONOTONIC). */
uint64_t wall_due(const struct wall *wall, uint64_t now);

/* Sweep, if it is time to, and append the samples whose stacks are known by now, counted. A VM that
 * has ended is swept no more. */
int wall_step(struct wall *wall, uint64_t now, struct part *part, struct error *error);

/* A CPU sample of a thread of this VM. */
int wall_cpu_sample(struct wall *wall, const struct sample *sample, struct part *part,
                    struct error *error);

/* Append what still waits for a CPU sample. */
int wall_finish(struct wall *wall, struct part *part, struct error *error);

/* Go on from one part to the next: what waits comes into that, and summaries are of it. */
void wall_begin(struct wall *wall, const struct profile *before, struct profile *profile);

/* Add what was counted to the sums, tallies (enum wall_tally) and times of *summary. */
enum wall_tally {
    WALL_SWEEPS,
    WALL_LATE,
    WALL_GONE,
    WALL_TORN,
    WALL_UNSAMPLED,
    WALL_OTHERS,
    WALL_TALLIES
};
extern const char *const wall_tally_names[WALL_TALLIES];
void wall_add_summary(const struct wall *wall, struct event_summary *summary,
                      struct event_tally *tallies);
