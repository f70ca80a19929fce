// SPDX-License-Identifier: Apache-2.0
/*
 * What the governor is made of, for its own files:
 *
 *      governor.c         the thread that looks after all groups, and what others ask
 *      governor_group.c   opening and closing a group, and the windows between
 *      governor_costs.c   what hits cost
 *
 * All of it is called with the governor's lock held.
 */
#pragma once

#include <pthread.h>

#include "capture/budget.h"
#include "capture/cost_factor.h"
#include "capture/governor.h"
#include "capture/run_time.h"
#include "util/buffer.h"

/* No stacks but of the largest, until it is known how many hits there are. */
enum { GROUP_FIRST_PERIOD = 1 << 20 };

struct moment {
    uint64_t time, work;
    struct probe_counts counts;
};

struct group {
    struct governor *governor;
    unsigned number;
    struct probe_site *sites;
    int count;
    double trap_ns;
    bool tried; /* to attach */
    struct error error;
    int tasks; /* threads that attach or detach */
    struct probe_links *links;
    /* while open */
    bool open;
    struct moment first; /* of the part of the window that is not handed out yet */
    /* what it costs */
    struct probe_counts charged; /* until here */
    uint64_t charged_time;
    struct run_time run_time;
    double program_ns;
    double runs_per_second, size_per_second; /* while open */
    uint64_t period;
    /* what came of it */
    struct window_log log;
    uint64_t covered, represented;
};

/* Of the target, and of probes in it. */
struct effort {
    uint64_t cpu, work;
    double cost; /* of hits, as they are reckoned */
};

struct governor {
    struct governor_options options;
    struct calibration calibration;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    pthread_t thread;
    bool started, stop;
    uint64_t start_time, stop_time;
    int stats_fd;
    clockid_t target_clock;
    uint64_t target_cpu_start, target_cpu; /* until now; until it ended, if it has */
    struct budget *budget;
    double cost;            /* of all hits, as it is reckoned */
    struct effort observed; /* when observe() was last called */
    struct cost_factor cost_factor;
    struct group **groups;
    unsigned group_count;
    struct buffer windows; /* struct governor_window, closed */
    size_t windows_taken;  /* bytes */
};

/* ---- costs ---- */

/* What the group's programs have counted so far. */
struct probe_counts group_counts(const struct group *group);

/* What hits cost since this was last called, in ns. */
double group_take_cost(struct group *group, const struct probe_counts *counts);

/* Say what an open group has cost until `now`. */
void group_charge(struct group *group, uint64_t now, const struct probe_counts *counts);

/* False if the target has ended: then what it had used is known. */
bool governor_read_target_cpu(struct governor *governor);

/* What the target did since this was last called, against what its hits cost. Called before probes
 * are attached and after they are detached, so that what these two cost the target is in intervals
 * that have hits. */
void governor_observe(struct governor *governor);

/* ---- groups ---- */

/* Attach its probes, and open it; or refuse it. In a thread of its own. */
void group_open(struct group *group);

/* Close it at once; its probes are detached in a thread of their own. */
void group_close(struct group *group);

/* It can't be attached. */
void group_refuse(struct group *group, const struct error *error);

/* Hand out what was counted since the window began, or since this was last called, of a group that
 * stays open. */
void group_hand_out(struct group *group);
