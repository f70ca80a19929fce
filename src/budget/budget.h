// SPDX-License-Identifier: Apache-2.0
/*
 * The budget of probes: what they may cost, and so when they are attached. It only computes; the
 * caller gives the time.
 *
 * Income is a share of the CPU time that the target uses. All CPU time so far decides what may be
 * spent; recent CPU time decides the plans. Each group of probes has a share of the income. What a
 * group does not need goes to the others. A group whose cost fits its share stays open. Any other
 * group is sampled in time: time is divided into strata, and in each stratum the group is open for
 * one window at a random place. Before a stratum begins, earlier costs fix its length and the
 * length of its window. So a window stands for its stratum without bias, whatever the load does:
 *
 *      |<---- stratum ---->|<------ stratum ------>|
 *      |      [window]     |[window]               |      scale = stratum / window
 *
 * A group that stays open and becomes too expensive is closed at once. Hits until then have a scale
 * of 1, and a stratum begins.
 *
 * The calls for each group, in this order: budget_order() returns OPEN, budget_opened(),
 * budget_spend()..., budget_order() returns CLOSE, budget_closed(), budget_detached(). Times are ns
 * of one clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct budget;

struct budget_options {
    double part;         /* share of the target's CPU time that probes may cost: 0.01 */
    uint64_t target_cpu; /* ns that the target has used until now */
    unsigned groups;     /* groups of probes */
    uint64_t seed;       /* decides where windows lie */
    uint64_t now;
};

struct budget *budget_new(const struct budget_options *options);
void budget_free(struct budget *budget);

/* Report the CPU time that the target has used since it began, with the cost of hits in it. */
void budget_income(struct budget *budget, uint64_t now, uint64_t target_cpu_ns);

/* Return the income that the part allows, in ns a second, averaged. */
double budget_allowed(const struct budget *budget);
/* From now on only this part of it, at most 1, is income. */
void budget_scale(struct budget *budget, double scale);

enum budget_order {
    BUDGET_WAIT,
    BUDGET_OPEN,
    BUDGET_CLOSE,
};

/* The order for a group; each order is returned once. `*until` is set to the time of the next call
 * at the latest. */
enum budget_order budget_order(struct budget *budget, unsigned group, uint64_t now,
                               uint64_t *until);

/* The CPU time of the target since the last call counts for nothing, and strata begin now. All
 * groups must be closed, or about to open. */
void budget_resume(struct budget *budget, uint64_t now, uint64_t target_cpu_ns);

/* The scale that the window which opens next is planned to have: its stratum by its length; 1 if
 * the group is to stay open. A window that is cut has a smaller one. */
double budget_window_scale(const struct budget *budget, unsigned group);

/* Report that hits count since `now`. Attaching took `took_ns`, and `cost_ns` of CPU time. */
void budget_opened(struct budget *budget, unsigned group, uint64_t now, uint64_t took_ns,
                   double cost_ns);

/* Report the cost of an open group since it was opened or since the last call. */
void budget_spend(struct budget *budget, unsigned group, uint64_t now, double cost_ns);

/* Report that hits count no longer. Return the time in ns that the window [opened, now) stands for.
 * At the end of a recording it is called without an order. */
uint64_t budget_closed(struct budget *budget, unsigned group, uint64_t now);

/* Report that the traps are gone and all is released. The group may be open again by then.
 * `cost_ns` is the cost of detaching and of hits since budget_closed(). */
void budget_detached(struct budget *budget, unsigned group, double cost_ns);

/* Report that the group can't be opened any more: its share goes to the others. */
void budget_retire(struct budget *budget, unsigned group);

/* True if hits have a scale of 1: the group is open and was to stay so, also while it is closed. */
bool budget_is_continuous(const struct budget *budget, unsigned group);

/* Of the stacks that a group takes. */
struct stack_limits {
    double ns;   /* approximate cost of a stack */
    double most; /* a second, over each 100 ms */
    double mean; /* a second of all time, on average */
};

/* The number of stacks that a group may take in a second of open time: as many as its share pays
 * for, within the limits. A short window may take all stacks of its 100 ms, and of its stratum. */
double budget_stacks(const struct budget *budget, unsigned group,
                     const struct stack_limits *limits);

struct budget_status {
    double income;    /* ns a second, of all groups together */
    double share;     /* this group's part of the income */
    double demand;    /* ns a second that the group costs while it is open */
    double spent_ns;  /* in total, with attaching */
    uint64_t windows; /* closed windows */
    uint64_t cut;     /* windows closed early because the cost had jumped */
};
struct budget_status budget_status(const struct budget *budget, unsigned group);

/* ---- cost_factor.c ---- */

/*
 * The factor between the true and the estimated cost of hits.
 *
 * The estimated cost of a hit is the cost of a trap in a short loop, plus the run time of the BPF
 * program. In the target, a hit also evicts caches and translations of the code around it. That
 * costs nearly nothing where hits follow each other, and as much as the hit itself in code with a
 * large working set. It shows in the work that the target does. Each interval has its CPU time, the
 * work done in it (in any unit that probes do not change) and the estimated cost of its hits. The
 * least squares of
 *
 *  work = speed * (CPU time - factor * cost)
 *
 * over intervals with many hits and with few give speed and factor. Until then, and where work is
 * not known, the factor is a value between the measured ones (docs/measurements.md).
 */

struct cost_factor {
    double intervals;       /* with weights: older intervals count less */
    double cpu, cost, work; /* sums */
    /* Sums of products, each divided by the CPU time of its interval, because the variance of work
     * grows with that time. */
    double cost_cost, work_cost, work_work;
};

/* Add an interval: the CPU time of the target and the estimated cost, in ns. An interval without
 * work is ignored. */
void cost_factor_add(struct cost_factor *factor, double cpu_ns, double work, double cost_ns);

/* The factor, between 1 and 10. */
double cost_factor_get(const struct cost_factor *factor);

/* ---- host_budget.c ---- */

/*
 * The budget of a host: the CPU time that this program and the probes in all VMs may take together.
 * If the VMs' own budgets exceed what this program leaves for probes, all are scaled by the same
 * factor. This module only computes; the caller passes the time.
 */

struct host_budget;

/* `part`: of one CPU: 0.01. `own_cpu_ns`: CPU time that this program has used until now. */
struct host_budget *host_budget_new(double part, uint64_t now, uint64_t own_cpu_ns);
void host_budget_free(struct host_budget *host);

/* Add a VM. Return its number. */
unsigned host_budget_join(struct host_budget *host);
void host_budget_leave(struct host_budget *host, unsigned member);

/* Report the CPU time that this program has used since it began. */
void host_budget_own(struct host_budget *host, uint64_t now, uint64_t own_cpu_ns);

/* Report the income that a VM's own budget allows, in ns a second. Return the factor by which
 * it is scaled, at most 1. If this program alone needs the host's budget, probes keep a tenth of
 * the budget: without an income they would never open. */
double host_budget_scale(struct host_budget *host, unsigned member, double income);
