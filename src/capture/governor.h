// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps the probes of one target within their budget: a thread that opens and closes groups of
 * probes as capture/budget.h plans, and hands out the windows in which they were open.
 *
 *   new ──> add... ──> start ──> { windows, scale, status }... ──> stop ──> windows ──> free
 *
 * A hit counts from open(group, true) to open(group, false), not from attaching to detaching: the
 * BPF programs look at a flag that these callbacks set, so that windows are exact. Samples taken
 * outside have no scale.
 *
 * The functions may be called from any thread but those callbacks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/calibration.h"
#include "capture/probe_link.h"
#include "util/error.h"

struct governor;

enum { GOVERNOR_VALUES = 4 };

/* What the BPF programs of a group counted since the beginning. */
struct probe_counts {
    uint64_t hits; /* runs of all its programs in the target, counted ones or not: they cost */
    uint64_t size; /* sum of the sizes of what could become a sample with a stack */
    uint64_t values[GOVERNOR_VALUES]; /* sums of what counts, for the totals of windows */
};

/* All are called on threads of the governor, for a group never by two at a time. */
struct governor_callbacks {
    void *context;
    void (*counts)(void *context, unsigned group, struct probe_counts *counts);
    /* Hits count from now on, or don't. */
    void (*open)(void *context, unsigned group, bool open);
    /* Take stacks with probability size / period. */
    void (*period)(void *context, unsigned group, uint64_t period);
};

struct governor_options {
    pid_t pid;
    double part;                           /* of the target's CPU time: 0.01 */
    double stacks_per_second;              /* at most, of each group */
    double stack_ns;                       /* what a stack costs */
    const struct calibration *calibration; /* borrowed */
    struct governor_callbacks callbacks;
};

struct governor *governor_new(const struct governor_options *options);

/* Sites that are attached together; copied, but the paths are borrowed. Returns the group's number:
 * 0, 1, 2... */
unsigned governor_add(struct governor *governor, const struct probe_site *sites, int count);

/* Attach every group, and keep to the budget from now on. Groups that can't be attached are left
 * out, the others go on: governor_error() says which and why. Fails if threads can't be made. */
int governor_start(struct governor *governor, struct error *error);

/* Close all, wait for the threads. What is open ends now, as a window. */
void governor_stop(struct governor *governor);
void governor_free(struct governor *governor);

/* -1 with error if the group could not be attached, at the start or again later: it is closed for
 * good. That the target has ended is not an error. */
int governor_error(struct governor *governor, unsigned group, struct error *error);

/* A window that was closed. */
struct governor_window {
    unsigned group;
    uint64_t start, end;    /* CLOCK_MONOTONIC, as the times of samples */
    uint64_t represents_ns; /* end - start where the group is open all of the time */
    uint64_t hits;
    uint64_t values[GOVERNOR_VALUES];
};

/* Take up to `max` windows that were closed since the last call, in order of closing; returns how
 * many. While a group stays open one comes each second. */
int governor_windows(struct governor *governor, struct governor_window *windows, int max);

enum governor_answer {
    GOVERNOR_SCALE,   /* known */
    GOVERNOR_NOT_YET, /* its window is still open: ask later */
    GOVERNOR_OUTSIDE, /* in no window: it does not count */
};

/* How many hits a hit at `time` stands for that took `duration` ns until then. What takes long is
 * less likely to lie within a window as a whole, and so stands for more. */
enum governor_answer governor_scale(struct governor *governor, unsigned group, uint64_t time,
                                    uint64_t duration, double *scale);

struct governor_status {
    double hits_per_second; /* while open */
    double hit_ns;          /* cost of a hit: trap and program */
    uint64_t spent_ns;
    uint64_t covered_ns; /* time in windows */
    uint64_t represented_ns;
    uint64_t elapsed_ns;
    uint64_t windows, cut; /* cut: closed early because the rate had jumped */
    bool continuous;
};
struct governor_status governor_status(struct governor *governor, unsigned group);
