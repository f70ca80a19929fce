// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps the probes of one target within their budget. A thread opens and closes groups of probes as
 * budget/budget.h plans, and hands out the windows in which they were open.
 *
 *   new ──> add... ──> start ──> { windows, scale, status }... ──> stop ──> windows ──> free
 *
 * Hits count from open(group, WIRE_OPEN) to open(group, WIRE_CLOSED), and not from attaching to
 * detaching. This callback sets a flag that the BPF programs check, so windows are exact.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "beam/vm.h"
#include "budget/budget.h"
#include "budget/windows.h"
#include "capture/calibration.h"
#include "capture/probe_link.h"
#include "util/error.h"
#include "wire.h"

struct governor;

/* The counts of a group's BPF programs since they were loaded. */
struct probe_counts {
    uint64_t runs; /* runs of the programs: each has a cost, whether its hit counts or not */
    /* Of hits that count: */
    uint64_t hits;
    uint64_t size; /* sum of sizes; stacks are taken with probability size / period */
    uint64_t values[WIRE_VALUES];
};

enum { WORK_OF_ALL = -1 };
enum probe_change { PROBE_ATTACH, PROBE_DETACH };

/* Called on the governor's threads, one at a time, but for held_by() and keep(). They must not call
 * the governor. */
struct governor_callbacks {
    void *context;
    void (*counts)(void *context, unsigned group, struct probe_counts *counts);
    void (*open)(void *context, unsigned group, enum wire_open open);
    void (*period)(void *context, unsigned group, uint64_t period);
    /* The work of the target so far, in any units that grow with the hits of the group;
     * WORK_OF_ALL: with all that the target does. */
    struct vm_work (*work)(void *context, int group);
    /* From now on, call governor_wake() each time a CPU has run the group's programs `runs` more
     * times. `runs` is a power of two; 0: never. NULL: the governor never sleeps. */
    void (*alarm)(void *context, unsigned group, uint32_t runs);
    /* Return a process that this change of probes would wait for, perhaps for ever; 0: none. */
    pid_t (*held_by)(void *context, enum probe_change change);
    /* Called before probes are detached while a process delays it: from now on detaching must not
     * wait. */
    void (*keep)(void *context, const struct probe_links *links);
};

struct governor_options {
    pid_t pid;
    double part;                           /* share of the target's CPU time for probes: 0.01 */
    struct host_limit *host;               /* of all targets together; NULL: none */
    struct stack_limits stacks;            /* of each group */
    const struct calibration *calibration; /* copied */
    struct governor_callbacks callbacks;
};

struct governor *governor_new(const struct governor_options *options);
void governor_free(struct governor *governor);

/* Add a group of probes, which are open or closed together. Sites are copied, their paths borrowed.
 * Return its number: 0, 1, 2... */
unsigned governor_add(struct governor *governor, const struct probe_site *sites, int count);

/* Attach every group, and keep within the budget from now on. A group that can't be attached is
 * skipped: governor_error() says which and why. Fails if a thread can't be started. */
int governor_start(struct governor *governor, struct error *error);

/* Close all groups. The open windows end now. Waits until the probes are detached. */
void governor_stop(struct governor *governor);

/* Close all groups until governor_resume(). The open windows end now. Waits until the probes are
 * detached, but at most a second for one that another process delays. */
void governor_pause(struct governor *governor);
/* Plan the windows anew. Waits until groups that are to stay open are, but at most a second. */
void governor_resume(struct governor *governor);

/* Give the calling thread precedence over others: a window of 2 ms must end in time even if the
 * target uses all CPUs, and nobody may take the lock of a memory map between the look at it and the
 * change of probes. Also for a program that runs at idle priority. */
void governor_take_precedence(void);

/* The functions below may be called from any thread. */

/* Look at all groups at once: their programs have run. */
void governor_wake(struct governor *governor);

/* -1 with error if the group could not be attached, at the start or later, and so is closed for
 * good. It is no error that the target has ended. */
int governor_error(struct governor *governor, unsigned group, struct error *error);

/* A time in which a group was open. A group that stays open has windows of a second or more, end to
 * end. */
struct governor_window {
    unsigned group;
    uint64_t start, end; /* CLOCK_MONOTONIC */
    uint64_t represents; /* ns that it stands for; end - start where nothing is scaled */
    struct vm_work work; /* of the target in the window */
    uint64_t hits;       /* that counted in the window */
    uint64_t values[WIRE_VALUES];
};

/* Take the next closed window. Return false if there is none. */
bool governor_window(struct governor *governor, struct governor_window *window);

/* True if all groups stay open: their windows stand for no other time. */
bool governor_stays_open(struct governor *governor);

/* End the windows of groups that stay open, and begin new ones: so that the ended windows can be
 * taken. */
void governor_cut(struct governor *governor);

/* The scale of a hit at `time`; see window_log_scale(). */
enum window_answer governor_scale(struct governor *governor, unsigned group, uint64_t time,
                                  uint64_t duration, double *scale);

struct governor_status {
    bool continuous;                                 /* the group is open, and to stay so */
    double runs_per_second;                          /* while open */
    double run_ns;                                   /* cost of a run: trap and program */
    double share;                                    /* the group's part of the budget, ns a
                                                      * second */
    double spent_ns;                                 /* in total, with attaching */
    uint64_t target_cpu_ns;                          /* CPU time of the target since the start */
    uint64_t elapsed_ns, covered_ns, represented_ns; /* time since the start; in windows; that
                                                      * windows stand for */
    uint64_t windows;
    uint64_t cut; /* windows closed early because the cost had jumped */
};
struct governor_status governor_status(struct governor *governor, unsigned group);

/* ---- host_limit.c ---- */

/* The budget of the host (budget/budget.h), which the governors of all targets share. Any
 * thread may call these functions. */

struct host_limit;

/* `part`: of one CPU: 0.01. */
struct host_limit *host_limit_new(double part);
/* All members must have left. */
void host_limit_free(struct host_limit *limit);

unsigned host_limit_join(struct host_limit *limit);
void host_limit_leave(struct host_limit *limit, unsigned member);

/* Return the factor by which the host scales a target's income (ns a second) now. */
double host_limit_scale(struct host_limit *limit, unsigned member, double income);
