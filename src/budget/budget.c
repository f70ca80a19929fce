// SPDX-License-Identifier: Apache-2.0
#include "budget/budget.h"

#include <math.h>
#include <stdlib.h>

#include "util/alloc.h"
#include "util/number.h"

#define SECOND 1e9

/* The time between two checks of an open group, in ns. In the first TICK of its window, when its
 * cost is not known well, it is FIRST_TICK. */
static const uint64_t TICK = 10000000;
static const uint64_t FIRST_TICK = 2000000;

/* A window is so long that attaching is a fifth of its cost, within these bounds in ns. */
static const double WINDOW_MIN = 2e6;
static const double WINDOW_MAX = 50e6;
static const double WINDOW_COST_IN_ATTACHING = 4;

/* After a jump of the cost, windows are short, and grow by this factor until their cost is
 * known. */
static const double WINDOW_GROWTH = 3;

/* Windows of all groups together that begin in a second. Attaching and detaching delay threads of
 * the target that map memory, whatever CPU time they cost. */
static const double WINDOWS_PER_SECOND = 10;

/* The longest stratum, in ns: as long as users wait for results. An agent scales the budget of a VM
 * down if many VMs share the host's budget. Their strata are longer. */
static const double STRATUM_MAX = 20e9;
static const double STRATUM_MAX_SCALED = 3600e9;

/* The cost of hits is known to some percent only. */
static const double SAFETY = 0.95;

/* An idle target counts as one that uses a tenth of a CPU. */
static const double IDLE_CPU = 0.1;

/* How far back the target's CPU time and the cost of a group are averaged, in ns. CPU time before
 * profiling says little: a node is busy while it starts. */
static const double INCOME_MEMORY = 1e9;
static const double DEMAND_MEMORY = 50e6; /* of open time */

/* The cost of less time than this, in ns, shows nothing. */
static const double COST_TIME_MIN = 1e6;

/* A group saves at most its share of half a second, so that it notices a jump in cost by then. It
 * may always save enough for attaching. */
static const double SAVINGS_TIME = 0.5;
static const double SAVINGS_MIN = 0.5e6;

/* Room between the cost of a group and its share. A group needs NEED times its cost. It stays open
 * if its cost is at most FIT times its share. */
static const double NEED = 1.3;
static const double FIT = 0.8;

/* A window is closed early when it has cost this many times the planned cost. */
static const double CUT = 8;

static const double STACKS_PART = 1.0 / 3;
/* The time over which a limit of stacks holds, in ns. */
static const double BURST = 100e6;

/* Assumed until they are measured, in ns. */
static const double ATTACHING_COST = 200e3;
static const double ATTACHING_TIME = 10e6;

enum group_state {
    CLOSED,
    OPENING,
    OPEN,
    CLOSING,
    RETIRED,
};

struct budget_group {
    enum group_state state;
    /* measured */
    double demand;         /* ns a second of open time, averaged */
    double last_demand;    /* the latest value */
    double attaching_cost; /* averaged; with detaching, once that is measured */
    double attaching_time;
    /* income */
    double share, tokens;
    /* the stratum */
    bool continuous;
    uint64_t begin;
    double length; /* of the stratum; 0 if continuous */
    double window; /* ns that the group is to be open */
    double window_max;
    double planned; /* cost of the window, with attaching */
    uint64_t opens_at;
    /* the window */
    uint64_t opened, spent_at; /* `spent_at`: the time of the last budget_spend() */
    double window_spent, window_attaching;
    bool cut;
    double spent;
    uint64_t windows, cuts;
};

struct budget {
    double part, scale;
    uint64_t random;
    uint64_t start, now, target_cpu;
    double allowed;       /* ns a second, averaged: income without `scale` */
    double income;        /* ns a second, averaged */
    double spent_in_hits; /* since the last income; the target's CPU time is too high by this */
    unsigned count;
    struct budget_group groups[];
};

struct budget *budget_new(const struct budget_options *options)
{
    unsigned groups = options->groups;
    struct budget *budget = xcalloc(1, sizeof(*budget) + groups * sizeof(struct budget_group));

    budget->part = SAFETY * options->part;
    budget->random = options->seed;
    budget->start = budget->now = options->now;
    budget->target_cpu = options->target_cpu;
    budget->scale = 1;
    budget->income = budget->allowed = budget->part * IDLE_CPU * SECOND;
    budget->count = groups;
    for (unsigned i = 0; i < groups; i++) {
        budget->groups[i] = (struct budget_group){
            .share = budget->income / groups,
            .tokens = SAVINGS_MIN,
            .attaching_cost = ATTACHING_COST,
            .attaching_time = ATTACHING_TIME,
            .window_max = WINDOW_MAX,
            .continuous = true,
            .begin = options->now,
            .opens_at = options->now,
        };
    }
    return budget;
}

void budget_free(struct budget *budget)
{
    free(budget);
}

/* ---- income ---- */

static double savings_max(const struct budget_group *group)
{
    return fmax(group->share * SAVINGS_TIME, SAVINGS_MIN);
}

static double stratum_max(const struct budget *budget)
{
    return fmin(STRATUM_MAX / budget->scale, STRATUM_MAX_SCALED);
}

/* What a group costs if its windows are as rare as they may be, in ns a second. A group that costs
 * less while it is open stays open. */
static double least_cost(const struct budget *budget, const struct budget_group *group)
{
    return group->attaching_cost / stratum_max(budget) * SECOND;
}

/* Divide the income. A group that needs less than an equal part gets what it needs; the others get
 * equal parts of the rest. Income that no group needs is divided equally too. Each group has at
 * least what it would cost anyway. */
static void divide(struct budget *budget)
{
    double rest = budget->income, level;
    unsigned open = 0, sharing = 0;
    bool more = true;

    for (unsigned i = 0; i < budget->count; i++) {
        budget->groups[i].share = -1;
        sharing += budget->groups[i].state != RETIRED;
    }
    for (open = sharing; more && open;) {
        more = false;
        level = rest / open;
        for (unsigned i = 0; i < budget->count; i++) {
            struct budget_group *group = &budget->groups[i];
            double need = NEED * group->demand;

            if (group->state == RETIRED || group->share >= 0 || need > level)
                continue;
            group->share = need;
            rest -= need;
            open--;
            more = true;
        }
    }
    for (unsigned i = 0; i < budget->count; i++) {
        struct budget_group *group = &budget->groups[i];

        if (group->state == RETIRED)
            group->share = 0;
        else if (group->share < 0)
            group->share = rest / open;
        else if (!open)
            group->share += rest / sharing;
        if (group->state != RETIRED)
            group->share = fmax(group->share, least_cost(budget, group));
    }
}

void budget_income(struct budget *budget, uint64_t now, uint64_t target_cpu_ns)
{
    double time = (double)(now - budget->now), seen = (double)(now - budget->start);
    double used = IDLE_CPU * time, earned;

    if (now <= budget->now)
        return;
    if (target_cpu_ns > budget->target_cpu)
        used = fmax(used, (double)(target_cpu_ns - budget->target_cpu) - budget->spent_in_hits);
    budget->allowed = moved_average(budget->allowed, budget->part * used / time * SECOND, time,
                                    fmin(seen, INCOME_MEMORY));
    earned = budget->scale * budget->part * used;
    budget->spent_in_hits = 0;
    budget->target_cpu = target_cpu_ns;
    budget->now = now;
    budget->income =
        moved_average(budget->income, earned / time * SECOND, time, fmin(seen, INCOME_MEMORY));
    divide(budget);
    for (unsigned i = 0; i < budget->count; i++) {
        struct budget_group *group = &budget->groups[i];

        group->tokens += earned * group->share / budget->income;
        group->tokens = fmin(group->tokens, savings_max(group));
    }
}

double budget_allowed(const struct budget *budget)
{
    return budget->allowed;
}

void budget_scale(struct budget *budget, double scale)
{
    budget->scale = scale;
}

/* ---- plan ---- */

/* A random number in [0, 1): splitmix64. */
static double random_part(struct budget *budget)
{
    uint64_t z = budget->random += 0x9e3779b97f4a7c15;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Plan to open the group at `offset` into its stratum, or as soon after as it can be attached. */
static void order_at(struct budget_group *group, uint64_t now, double offset)
{
    double wait = (double)(group->begin - now) + offset - group->attaching_time;

    group->opens_at = now + (uint64_t)fmax(wait, 0);
}

static unsigned groups_left(const struct budget *budget)
{
    unsigned count = 0;

    for (unsigned i = 0; i < budget->count; i++)
        count += budget->groups[i].state != RETIRED;
    return count;
}

/* Where windows would come too often, make the stratum and its window longer, for the same share.
 * The window stays within its limit: after a jump of the cost, the share is not used up. */
static void space_out(const struct budget *budget, struct budget_group *group, double demand)
{
    double shortest = groups_left(budget) / WINDOWS_PER_SECOND * SECOND;
    double more = shortest - group->length, window = group->window;

    if (more <= 0 || demand <= 0)
        return;
    window += group->share / demand * more;
    window = fmin(window, fmin(shortest - group->attaching_time, group->window_max));
    group->planned += demand * (window - group->window) / SECOND;
    group->window = window;
    group->length = shortest;
}

/* Plan the stratum that begins at `begin`, now or later. */
static void plan(struct budget *budget, struct budget_group *group, uint64_t now, uint64_t begin)
{
    double demand = fmax(group->demand, group->last_demand);
    double cost, tokens;

    divide(budget);
    tokens = group->tokens + group->share * (double)(begin - now) / SECOND;
    group->begin = begin;
    group->cut = false;
    group->continuous = demand <= FIT * group->share && tokens >= 0;
    group->length = group->window = 0;
    if (group->continuous) {
        order_at(group, now, 0);
        return;
    }
    group->window = demand > 0 ? WINDOW_COST_IN_ATTACHING * group->attaching_cost / demand * SECOND
                               : WINDOW_MAX;
    group->window = fmin(fmax(group->window, WINDOW_MIN), group->window_max);
    cost = group->planned = group->attaching_cost + demand * group->window / SECOND;
    /* Debts are paid in full, savings are spent slowly. */
    cost -= tokens < 0 ? tokens : tokens / 4;
    group->length = fmax(cost / group->share * SECOND, group->window + group->attaching_time);
    group->length = fmin(group->length, stratum_max(budget));
    space_out(budget, group, demand);
    order_at(group, now, (group->length - group->window) * random_part(budget));
}

static bool too_expensive(const struct budget_group *group)
{
    if (group->continuous)
        return group->tokens < 0 && group->last_demand > group->share;
    return group->window_spent > fmax(CUT * group->planned, savings_max(group));
}

static enum budget_order order_open(struct budget_group *group, uint64_t now, uint64_t *until)
{
    uint64_t closes_at = group->opened + (uint64_t)group->window;

    group->cut = too_expensive(group);
    if (group->cut || (!group->continuous && now >= closes_at)) {
        group->state = CLOSING;
        return BUDGET_CLOSE;
    }
    *until = now + (now - group->opened < TICK ? FIRST_TICK : TICK);
    if (!group->continuous && closes_at < *until)
        *until = closes_at;
    return BUDGET_WAIT;
}

enum budget_order budget_order(struct budget *budget, unsigned number, uint64_t now,
                               uint64_t *until)
{
    struct budget_group *group = &budget->groups[number];

    *until = UINT64_MAX;
    if (group->state == OPEN)
        return order_open(group, now, until);
    if (group->state != CLOSED)
        return BUDGET_WAIT;
    *until = group->opens_at;
    if (now < group->opens_at)
        return BUDGET_WAIT;
    group->state = OPENING;
    return BUDGET_OPEN;
}

void budget_resume(struct budget *budget, uint64_t now, uint64_t target_cpu_ns)
{
    budget->start += now - budget->now;
    budget->now = now;
    budget->target_cpu = target_cpu_ns;
    budget->spent_in_hits = 0;
    for (unsigned i = 0; i < budget->count; i++)
        if (budget->groups[i].state == CLOSED)
            plan(budget, &budget->groups[i], now, now);
}

/* ---- reports ---- */

static void charge(struct budget_group *group, double cost_ns)
{
    group->tokens -= cost_ns;
    group->spent += cost_ns;
}

void budget_opened(struct budget *budget, unsigned number, uint64_t now, uint64_t took_ns,
                   double cost_ns)
{
    struct budget_group *group = &budget->groups[number];

    group->state = OPEN;
    group->opened = group->spent_at = now;
    group->window_spent = 0;
    group->window_attaching = cost_ns;
    group->attaching_time = (group->attaching_time + (double)took_ns) / 2;
    if (group->windows == 0)
        group->attaching_cost = cost_ns;
    charge(group, cost_ns);
}

void budget_spend(struct budget *budget, unsigned number, uint64_t now, double cost_ns)
{
    struct budget_group *group = &budget->groups[number];
    double time = (double)(now - group->spent_at);

    charge(group, cost_ns);
    group->window_spent += cost_ns;
    budget->spent_in_hits += cost_ns;
    if (now <= group->spent_at)
        return;
    group->demand = moved_average(group->demand, cost_ns / time * SECOND, time, DEMAND_MEMORY);
    if (time >= COST_TIME_MIN)
        group->last_demand = cost_ns / time * SECOND;
    group->spent_at = now;
}

uint64_t budget_closed(struct budget *budget, unsigned number, uint64_t now)
{
    struct budget_group *group = &budget->groups[number];
    uint64_t end = group->begin + (uint64_t)group->length;
    bool whole = group->state == CLOSING && !group->cut && !group->continuous && now < end;
    /* If it was attached sooner than planned, it may be cut before its stratum begins. */
    uint64_t begin = group->opened < group->begin ? group->opened : group->begin;
    uint64_t represents = whole ? end - group->begin : now - begin;

    group->window_max = fmin(group->window_max * WINDOW_GROWTH, WINDOW_MAX);
    if (group->cut) {
        group->demand = fmax(group->demand, group->last_demand);
        group->window_max = WINDOW_MIN;
    }
    group->state = CLOSED;
    group->windows++;
    group->cuts += group->cut;
    if (group->continuous)
        represents = now - group->opened;
    plan(budget, group, now, whole ? end : now);
    return represents;
}

void budget_detached(struct budget *budget, unsigned number, double cost_ns)
{
    struct budget_group *group = &budget->groups[number];
    double cost = group->window_attaching + cost_ns;

    group->attaching_cost = group->windows > 1 ? (group->attaching_cost + cost) / 2 : cost;
    charge(group, cost_ns);
}

void budget_retire(struct budget *budget, unsigned number)
{
    budget->groups[number].state = RETIRED;
    divide(budget);
}

/* ---- results ---- */

bool budget_is_continuous(const struct budget *budget, unsigned number)
{
    const struct budget_group *group = &budget->groups[number];

    return (group->state == OPEN || group->state == CLOSING) && group->continuous;
}

double budget_window_scale(const struct budget *budget, unsigned number)
{
    const struct budget_group *group = &budget->groups[number];

    return group->continuous ? 1 : group->length / group->window;
}

double budget_stacks(const struct budget *budget, unsigned number,
                     const struct stack_limits *limits)
{
    const struct budget_group *group = &budget->groups[number];
    double open = group->continuous ? 1 : group->window / group->length;
    double of_burst = group->continuous ? 1 : fmin(group->window / BURST, 1);

    return fmin(fmin(STACKS_PART * group->share / limits->ns, limits->mean) / open,
                limits->most / of_burst);
}

struct budget_status budget_status(const struct budget *budget, unsigned number)
{
    const struct budget_group *group = &budget->groups[number];

    return (struct budget_status){
        .income = budget->income,
        .share = group->share,
        .demand = group->demand,
        .spent_ns = group->spent,
        .windows = group->windows,
        .cut = group->cuts,
    };
}
