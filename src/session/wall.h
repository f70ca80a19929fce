// SPDX-License-Identifier: Apache-2.0
/*
 * The wall event counts the time of processes, running or not. It sweeps over the processes of a VM
 * at its own rate. Each process that a sweep visits stands for the time since the sweep before. A
 * sweep that can't visit all processes picks some at random, each with the same probability. These
 * stand for all processes that there were.
 *
 *   at rest    its stack is read from memory
 *   running    its stack is that of a CPU sample of it, next to the sweep
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/process_sweep.h"
#include "beam/vm.h"
#include "profile/profile_remap.h"
#include "session/options.h"
#include "session/segment.h"
#include "session/targets.h"
#include "symbol/symbolizer.h"
#include "util/error.h"

struct wall_options {
    uint32_t frequency;    /* sweeps per second */
    bool joins_repeats;    /* one sample stands for all sweeps that found a process unchanged */
    uint64_t cpu_interval; /* ns between CPU samples */
    struct top_option top; /* only these processes */
    struct sweep_room *room;
};

struct wall;

/* Borrows `vm` and `symbolizer`. NULL with error. */
struct wall *wall_new(struct vm *vm, struct symbolizer *symbolizer,
                      const struct wall_options *options, struct error *error);
void wall_free(struct wall *wall);

/* Return the ns from `now` (CLOCK_MONOTONIC) until the next sweep is due. */
uint64_t wall_due(const struct wall *wall, uint64_t now);

/* Sweep, if a sweep is due; repeat the last sweep if the target has rested since. `target` is the
 * VM of `wall`. Append the samples whose stacks are known now, and count them in the totals of
 * `segment`. A VM that has ended gives no samples. */
int wall_step(struct wall *wall, struct target *target, uint64_t now, struct segment *segment,
              struct error *error);

/* Take a CPU sample of a thread of this VM: it gives the stack of a process that runs. */
int wall_cpu_sample(struct wall *wall, const struct sample *sample, struct segment *segment,
                    struct error *error);

/* Append the samples of the sweeps before the end of a segment; `all`: also those that still wait
 * for a CPU sample. */
int wall_end(struct wall *wall, bool all, struct segment *segment, struct error *error);

/* No sweep stands for time before now. A segment must have begun. */
void wall_resume(struct wall *wall);

/* Begin the next segment. Samples that wait move to its profile; the counts start at 0. */
void wall_begin(struct wall *wall, const struct profile *before, struct profile *profile);

/* Add the counts to the sums and times of *summary, and to `tallies` (by enum wall_tally). */
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

/* The wall event of a session: the sweeps of each target, and their summary in the recording.
 * Targets without sweeps are skipped. */

/* Begin the sweeps of a target, if event wall is recorded of it. Borrows its VM and symbolizer. */
int walls_add(struct target *target, const struct session_options *options, struct error *error);

/* Run the sweeps that are due, and append the samples whose stacks are known now. */
int walls_step(const struct targets *targets, struct segment *segment, struct error *error);

/* Return `timeout_ms`, or less if a sweep is due before. */
int walls_limit_timeout(const struct targets *targets, int timeout_ms);

/* End the sweeps of a segment; `all`: no sample waits for a CPU sample of the next one. */
int walls_end(const struct targets *targets, bool all, struct segment *segment,
              struct error *error);

/* Write the summary, if the wall event is recorded. */
int walls_put_summary(const struct targets *targets, struct segment *segment, struct error *error);

/* Begin the next segment, which follows `before`. */
void walls_begin(const struct targets *targets, const struct segment *before,
                 struct segment *segment);

/* ---- wall_population.c ---- */

/*
 * How many processes sweeps have read, of how many. A sweep that reads some processes is a sample
 * without replacement: these stand for all processes of that moment.
 */

/* Of several sweeps. All zero is empty. */
struct wall_population {
    uint64_t read, all; /* processes, added up over sweeps */
    uint64_t last;      /* number of processes at the last sweep; 0: there was none */
    double squares;     /* variance of the time of all processes, ns squared */
};

/* Return the ns that each of the `read` processes of a sweep stands for, at least 1. The sweep
 * stands for `time` of all `processes`. */
uint64_t wall_population_weight(uint64_t time, uint64_t read, uint64_t processes);

/* Add a sweep that stands for `time`. */
void wall_population_add(struct wall_population *population, uint64_t read, uint64_t processes,
                         uint64_t time);

/* Return the share of the processes that the sweeps have read; 1 if there was no sweep. */
double wall_population_read(const struct wall_population *population);

/* Return the standard error of the time of all processes, in ns. It is 0 if their number has not
 * changed. */
double wall_population_error(const struct wall_population *population);

/* ---- wall_recent.c ---- */

/* The last CPU samples of processes. The newer sample of two processes may replace the older one.
 */

/* All zero is empty, and takes no memory: most VMs of a host are idle. */
struct wall_recent {
    struct sample *of; /* by process id modulo their number; NULL: there are none */
};

void wall_recent_free(struct wall_recent *recent);
/* The sample must have a process. */
void wall_recent_put(struct wall_recent *recent, const struct sample *sample);
/* Return the sample of this process, or NULL. */
const struct sample *wall_recent_get(const struct wall_recent *recent, process_id process);
/* Move the samples since `since` to the new profile, and forget the others. */
void wall_recent_move(struct wall_recent *recent, uint64_t since, struct profile_remap *remap);

/* ---- wall_resting.c ---- */

/*
 * The samples of processes at rest, for later sweeps. If a process has not run and got no signal,
 * no byte of its struct has changed, and neither have its stack and its metrics.
 */

enum { RESTING_MAX = 2048 }; /* processes */

struct wall_resting;

struct wall_resting *wall_resting_new(const struct vm *vm);
void wall_resting_free(struct wall_resting *resting);
/* The next sweeps are for another profile. */
void wall_resting_move(struct wall_resting *resting, struct profile_remap *remap);

/* True if the process is as it was when its sample was put here. Call it before wall_resting_get(),
 * which gets the sample and counts it in *totals. */
bool wall_resting_knows(const struct wall_resting *resting, const struct swept_process *swept,
                        uint64_t now);
void wall_resting_get(const struct wall_resting *resting, const struct swept_process *swept,
                      struct sample *sample, struct recording_totals *totals);

/* Keep the sample of a process whose stack was read at `now`, unless something of it is missing or
 * there is no room. `totals`: of this sample alone. The caller has taken what was owed for the
 * process. */
void wall_resting_put(struct wall_resting *resting, const struct swept_process *swept, uint64_t now,
                      const struct sample *sample, const struct recording_totals *totals);

/* True if there is room for samples of so many other processes. */
bool wall_resting_has_room(const struct wall_resting *resting, size_t processes);
/* Forget all samples. Nothing may be owed for them. */
void wall_resting_clear(struct wall_resting *resting);

/* Sweeps that found a process unchanged. They have no sample yet: one sample will stand for all. */
struct owed_time {
    uint64_t time, until; /* ns: that the sweeps stand for; time of the last one */
    uint64_t sweeps;
};

/* Owe more for a process that wall_resting_knows(). */
void wall_resting_owe(struct wall_resting *resting, uint64_t address, const struct owed_time *more);

/* Take the sample that is owed for a process, and count it in *totals. False if none is. */
bool wall_resting_take(struct wall_resting *resting, uint64_t address, struct sample *sample,
                       struct owed_time *owed, struct recording_totals *totals);
/* The same for the next process; *next is 0 at first. */
bool wall_resting_take_next(struct wall_resting *resting, size_t *next, struct sample *sample,
                            struct owed_time *owed, struct recording_totals *totals);
