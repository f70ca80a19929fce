// SPDX-License-Identifier: Apache-2.0
/*
 * What probes may cost, and so when they are attached: arithmetic alone, the clock is given.
 *
 * Income is a part of the CPU time that the target uses: what it has used is what there is to
 * spend, what it used of late is what plans are made with. Each group of probes has a share of it:
 * what a group does not need goes to the others. A group whose cost fits its share stays open. Any
 * other is sampled in time: time is divided into strata, and in each one the group is open for one
 * window at a random place. Lengths of stratum and window are fixed before it begins, by what was
 * seen before, so that a window stands for its stratum without bias, whatever the load does:
 *
 *      |<---- stratum ---->|<------ stratum ------>|
 *      |      [window]     |[window]               |      scale = stratum / window
 *
 * A group that stays open and becomes too dear is closed at once: what was seen until then counts
 * once, and a stratum begins.
 *
 * Of each group, in this order: budget_order() says OPEN, budget_opened(), budget_spend()...,
 * budget_order() says CLOSE, budget_closed(), budget_detached(). Times are ns of one clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct budget;

struct budget_options {
    double part;         /* of the target's CPU time: 0.01 */
    uint64_t target_cpu; /* ns that it has used until now */
    unsigned groups;     /* of probes */
    uint64_t seed;       /* decides where windows lie */
    uint64_t now;
};

struct budget *budget_new(const struct budget_options *options);
void budget_free(struct budget *budget);

/* CPU time that the target has used since it began. Costs of hits are in it. */
void budget_income(struct budget *budget, uint64_t now, uint64_t target_cpu_ns);

enum budget_order {
    BUDGET_WAIT,
    BUDGET_OPEN,
    BUDGET_CLOSE,
};

/* What to do with a group, said once. `*until`: when to ask again at the latest. */
enum budget_order budget_order(struct budget *budget, unsigned group, uint64_t now,
                               uint64_t *until);

/* Hits count since `now`. Attaching has taken `took_ns`, and `cost_ns` of CPU time. */
void budget_opened(struct budget *budget, unsigned group, uint64_t now, uint64_t took_ns,
                   double cost_ns);

/* An open group cost this much since it was opened or this was last said. */
void budget_spend(struct budget *budget, unsigned group, uint64_t now, double cost_ns);

/* Hits count no longer. Returns how much time the window [opened, now) stands for. Also when a
 * recording ends, without an order. */
uint64_t budget_closed(struct budget *budget, unsigned group, uint64_t now);

/* The traps are gone, and all is released; the group may be open again by then. `cost_ns`: of
 * detaching and of hits since budget_closed(). */
void budget_detached(struct budget *budget, unsigned group, double cost_ns);

/* The group can't be opened any more: its share goes to the others. */
void budget_retire(struct budget *budget, unsigned group);

/* Whether a hit counts once: the group is open, and to stay so. */
bool budget_is_continuous(const struct budget *budget, unsigned group);

/* How many stacks, of `stack_ns` each, a group may take in a second of open time. */
double budget_stacks(const struct budget *budget, unsigned group, double stack_ns);

struct budget_status {
    double income;    /* ns a second, of all groups together */
    double share;     /* of it, this group's */
    double demand;    /* ns a second that it costs while it is open */
    double spent_ns;  /* in all, with attaching */
    uint64_t windows; /* that were closed */
    uint64_t cut;     /* of them, closed early because the cost had jumped */
};
struct budget_status budget_status(const struct budget *budget, unsigned group);
