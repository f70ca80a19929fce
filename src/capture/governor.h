// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps the probes of one target within their budget: a thread that opens and closes groups of
 * probes as capture/budget.h plans, and hands out the windows in which they were open.
 *
 *   new ──> add... ──> start ──> { windows, scale, status }... ──> stop ──> windows ──> free
 *
 * Hits count from open(group, WIRE_OPEN) to open(group, WIRE_CLOSED), not from attaching to
 * detaching: the BPF programs look at a flag that this callback sets, so that windows are exact.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/calibration.h"
#include "capture/probe_link.h"
#include "capture/window_log.h"
#include "util/error.h"
#include "wire.h"

struct governor;

/* What the BPF programs of a group counted since they were loaded. */
struct probe_counts {
    uint64_t runs; /* of the programs: each cost something, whether it counts or not */
    /* Of hits that count: */
    uint64_t hits;
    uint64_t size; /* sum; stacks are taken with probability size / period */
    uint64_t values[WIRE_VALUES];
};

/* Called on threads of the governor, one at a time; they may not call the governor. */
struct governor_callbacks {
    void *context;
    void (*counts)(void *context, unsigned group, struct probe_counts *counts);
    void (*open)(void *context, unsigned group, enum wire_open open);
    void (*period)(void *context, unsigned group, uint64_t period);
    /* What the target has done so far, in any measure that grows with its work. */
    uint64_t (*work)(void *context);
};

struct governor_options {
    pid_t pid;
    double part;                           /* of the target's CPU time that probes may cost: 0.01 */
    double stack_ns;                       /* what a stack costs, about */
    double stacks_per_second;              /* of a group, at most */
    const struct calibration *calibration; /* copied */
    struct governor_callbacks callbacks;
};

struct governor *governor_new(const struct governor_options *options);
void governor_free(struct governor *governor);

/* A group of probes, open or closed together. Sites are copied, their paths borrowed. Returns its
 * number: 0, 1, 2... */
unsigned governor_add(struct governor *governor, const struct probe_site *sites, int count);

/* Attach every group, and keep to the budget from now on. A group that can't be attached is left
 * out, the others go on: governor_error() says which and why. Fails if a thread can't be made. */
int governor_start(struct governor *governor, struct error *error);

/* Close all. What is open ends now, as a window. Takes as long as detaching. */
void governor_stop(struct governor *governor);

/* The functions below may be called from any thread. */

/* -1 with error if the group could not be attached, at the start or again later, and so is closed
 * for good. That the target has ended is not an error. */
int governor_error(struct governor *governor, unsigned group, struct error *error);

/* A time in which a group was open. One that stays open has one each second, end to end. */
struct governor_window {
    unsigned group;
    uint64_t start, end; /* CLOCK_MONOTONIC */
    uint64_t represents; /* ns it stands for; end - start where nothing is scaled */
    uint64_t work;       /* that the target did in it */
    uint64_t hits;       /* that counted in it */
    uint64_t values[WIRE_VALUES];
};

/* Take the next window that was closed; false if there is none. */
bool governor_window(struct governor *governor, struct governor_window *window);

/* Of groups that stay open, end the window now and begin the next one: so that it can be taken. */
void governor_cut(struct governor *governor);

/* What a hit at `time` stands for; see window_log_scale(). */
enum window_answer governor_scale(struct governor *governor, unsigned group, uint64_t time,
                                  uint64_t duration, double *scale);

struct governor_status {
    bool continuous;                                 /* open, and to stay so */
    double runs_per_second;                          /* while open */
    double run_ns;                                   /* what one costs: trap and program */
    double share;                                    /* of the budget, ns a second */
    double spent_ns;                                 /* in all, with attaching */
    uint64_t target_cpu_ns;                          /* that the target used since the start */
    uint64_t elapsed_ns, covered_ns, represented_ns; /* since the start; in windows; by them */
    uint64_t windows;
    uint64_t cut; /* of them, closed early because the cost had jumped */
};
struct governor_status governor_status(struct governor *governor, unsigned group);
