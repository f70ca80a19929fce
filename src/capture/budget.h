// SPDX-License-Identifier: Apache-2.0
/*
 * What probes may cost, and so when they are attached: arithmetic alone, the clock is given.
 *
 * Income is a part of the CPU time that the target uses. Each group of probes has a share of it:
 * what a group does not need goes to the others. A group whose cost fits its share stays open. Any
 * other is sampled in time: time is divided into strata, and in each one the group is open for one
 * window at a random place. Length of stratum and window are fixed before it begins, by what was
 * seen before, so that a window stands for its stratum without bias, whatever the load does:
 *
 *      |<---- stratum ---->|<------ stratum ------>|
 *      |      [window]     |[window]               |      scale = stratum / window
 *
 * A group that is open all of the time and becomes too dear is closed at once; what was seen until
 * then counts once, and a stratum begins.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct budget;

/* `part` of the target's CPU time (0.01), for `groups`. `seed` decides where windows lie. */
struct budget *budget_new(double part, unsigned groups, uint64_t seed, uint64_t now);
void budget_free(struct budget *budget);

/* ---- what was seen (times in ns, of one clock) ---- */

/* CPU time of the target since it began. */
void budget_income(struct budget *budget, uint64_t now, uint64_t target_cpu_ns);

/* An open group cost `cost_ns` since it was last said. */
void budget_spend(struct budget *budget, unsigned group, uint64_t now, double cost_ns);

/* CPU time to attach or detach, and how long it took. */
void budget_attached(struct budget *budget, unsigned group, uint64_t now, double cost_ns,
                     uint64_t took_ns);
void budget_detached(struct budget *budget, unsigned group, uint64_t now, double cost_ns,
                     uint64_t took_ns);

/* ---- what to do ---- */

enum budget_order {
    BUDGET_WAIT,
    BUDGET_OPEN,  /* attach now, then say budget_opened() */
    BUDGET_CLOSE, /* the window ends now: take the counts, say budget_closed(), detach */
};

/* `*until`: when to ask again at the latest, if nothing is to do. */
enum budget_order budget_order(struct budget *budget, unsigned group, uint64_t now,
                               uint64_t *until);

/* The time that hits of an open group stand for: [start, end) was seen, and stands for
 * `represents` ns. Where that is end - start nothing is scaled. */
struct budget_window {
    uint64_t start, end;
    uint64_t represents;
};

/* The group was opened at `now` (attached, and hits count). */
void budget_opened(struct budget *budget, unsigned group, uint64_t now);

/* The group was closed at `now`: the window since budget_opened(). The next stratum begins. Also
 * at the end of a recording, when no order was given. */
struct budget_window budget_closed(struct budget *budget, unsigned group, uint64_t now);

/* Whether what is seen now counts once, for sure: the group is open, and not for a window. */
bool budget_is_continuous(const struct budget *budget, unsigned group);

/* ---- stacks ---- */

/* How many stacks a second of open time a group may take so that they stay within their part. */
double budget_stacks(const struct budget *budget, unsigned group, double stack_ns);

/* ---- what it came to ---- */

struct budget_status {
    double income;     /* ns a second, of all groups together */
    double share;      /* of it, this group's */
    double demand;     /* ns a second that it would cost if it were open */
    uint64_t spent_ns; /* in all, with attaching */
    uint64_t windows;  /* that were closed */
    uint64_t cut;      /* of them, closed early because the rate had jumped */
};
struct budget_status budget_status(const struct budget *budget, unsigned group);
