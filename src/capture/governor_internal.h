// SPDX-License-Identifier: Apache-2.0
/*
 * The parts of the governor, for its own files:
 *
 *      governor.c         the thread that looks after all groups, and the public functions
 *      governor_pause.c   pauses
 *      governor_group.c   opening and closing a group, its windows, and the cost of its hits
 *
 * All functions are called with the governor's lock held.
 */
#pragma once

#include <pthread.h>

#include "budget/budget.h"
#include "capture/bpf_load.h"
#include "capture/governor.h"
#include "util/buffer.h"

/* The period until the rate of hits is known: stacks of the largest hits only. */
enum { GROUP_FIRST_PERIOD = 1 << 20 };

struct moment {
    uint64_t time;
    struct vm_work work;
    struct probe_counts counts;
};

struct probe_group {
    struct governor *governor;
    unsigned number;
    struct probe_site *sites;
    int count;
    double trap_ns;
    bool tried; /* attaching was tried */
    struct error error;
    int tasks; /* threads that are attaching or detaching */
    struct probe_links *links;
    /* while open */
    bool open;
    struct moment first; /* start of the part of the window that is not handed out yet */
    /* cost */
    struct probe_counts charged;        /* counts whose cost is charged */
    uint64_t charged_time, charged_cpu; /* the clock and the target's CPU time at that */
    uint64_t ran;                       /* the clock when charged runs were last found */
    struct run_time run_time;
    double program_ns;
    double runs_per_second, size_per_second; /* while open */
    uint64_t period;
    /* results */
    struct window_log log;
    uint64_t covered, represented;
};

/* The work of the target, and the cost of the probes in it. */
struct target_effort {
    uint64_t cpu, work;
    double cost; /* estimated cost of hits */
};

struct governor {
    struct governor_options options;
    struct calibration calibration;
    pthread_mutex_t lock; /* guards all fields below */
    pthread_cond_t changed;
    pthread_t thread;
    bool started, stop;
    bool paused;
    bool is_closed;  /* since it is paused: no group is open, and no thread opens or closes one */
    bool has_alarms; /* the BPF programs ring an alarm after some runs */
    bool stirred;    /* an alarm came, or a period changed, since the thread looked last */
    uint64_t calm_since; /* since when nothing stirred and no window was open; 0: not calm */
    uint64_t woken;      /* when an alarm came last */
    bool is_disturbed;   /* by several alarms in a short time */
    unsigned member;     /* in options.host */
    uint64_t start_time, stop_time;
    uint64_t said; /* when the shares were last logged */
    int stats_fd;
    clockid_t target_clock;
    uint64_t target_cpu_start, target_cpu; /* until now, or until the target ended */
    struct budget *budget;
    double cost;                   /* estimated cost of all hits */
    struct target_effort observed; /* at the last governor_group_observe() */
    struct cost_factor cost_factor;
    struct probe_group **groups;
    unsigned group_count;
    struct buffer windows; /* struct governor_window, closed */
    size_t windows_taken;  /* bytes */
};

/* Wait for a change, until `time` (CLOCK_MONOTONIC) at most. */
void governor_wait_until(struct governor *governor, uint64_t time);

/* Close the open groups. Return true while threads attach or detach probes. */
bool governor_close_open(struct governor *governor);

/* A target without another alarm in the last second runs something now and then only. After an
 * alarm it counts as quiet again after 1 / QUIET_PART of the usual time. */
enum { QUIET_PART = 5 };

/* ---- costs ---- */

/* The counts of the group's programs so far. */
struct probe_counts governor_group_counts(const struct probe_group *group);

/* The cost of hits since the last call, in ns. */
double governor_group_take_cost(struct probe_group *group, const struct probe_counts *counts);

/* Charge an open group with its cost until `now`. */
void governor_group_charge(struct probe_group *group, uint64_t now,
                           const struct probe_counts *counts);

/* Charge all open groups with their cost until now. */
void governor_group_charge_all(struct governor *governor);

/* Read the target's CPU time. Return false if the target has ended: the last value then stays. */
bool governor_group_read_target_cpu(struct governor *governor);

/* Observe the work of the target and the cost of hits since the last call. It is called before
 * probes are attached and after they are detached. So the cost of attaching and detaching for the
 * target lies in intervals that have hits. */
void governor_group_observe(struct governor *governor);

/* ---- groups ---- */

/* Attach the group's probes and open it, or refuse it. A thread of its own does this. */
void governor_group_open(struct probe_group *group);

/* Close the group at once. A thread of its own detaches the probes. */
void governor_group_close(struct probe_group *group);

/* Refuse a group that can't be attached. */
void governor_group_refuse(struct probe_group *group, const struct error *error);

/* Hand out, as a window, what an open group has counted since its window began or since the last
 * call. */
void governor_group_hand_out(struct probe_group *group);
