// SPDX-License-Identifier: Apache-2.0
/*
 * The plan of probes on simulated loads: a target that uses CPU time, groups of probes with a hit
 * rate, and the governor's tick.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "budget/budget.h"

enum { GROUPS_MAX = 4 };

#define MS     1000000ull
#define SECOND 1000000000ull
#define PART   0.01

/* Costs as measured. */
static const double hit_ns = 800;
static double attach_ns = 80e3; /* also for detaching */
static const uint64_t attach_time = 8 * MS;
static const uint64_t gone_time = 1 * MS; /* from closing until the breakpoints are gone */
static const uint64_t detach_time = 40 * MS;

static uint64_t jump_at = UINT64_MAX;

/* Return the hits per second of a group at a time. */
typedef double (*load_function)(unsigned group, uint64_t now);

struct simulated_group {
    bool open;
    uint64_t opened;
    double hits, reported;                      /* of the window; those passed to budget_spend() */
    double late;                                /* hits after closing */
    uint64_t attach_done, gone_at, detach_done; /* 0: not in progress */
    /* results */
    double true_hits, scaled_hits;
    uint64_t covered, represented;
    uint64_t longest_after_jump; /* longest time open without a break, after jump_at */
};

struct simulation {
    struct budget *budget;
    load_function load;
    unsigned count;
    double cpu; /* CPUs that the target uses itself */
    uint64_t now;
    double target_cpu; /* ns, including hits */
    double spent, spent_in_hits;
    struct simulated_group groups[GROUPS_MAX];
};

static inline struct simulation *simulate(load_function load, unsigned count, double cpu,
                                          uint64_t seed)
{
    struct simulation *s = calloc(1, sizeof(*s));

    assert_non_null(s);
    s->load = load;
    s->count = count;
    s->cpu = cpu;
    s->now = 5 * SECOND;
    s->budget = budget_new(
        &(struct budget_options){.part = PART, .groups = count, .seed = seed, .now = s->now});
    return s;
}

static inline void simulation_free(struct simulation *s)
{
    budget_free(s->budget);
    free(s);
}

static inline void spend(struct simulation *s, double cost)
{
    s->spent += cost;
}

/* Simulate the hits of [now, now + step), at a constant rate. */
static inline void run_load(struct simulation *s, uint64_t step)
{
    for (unsigned i = 0; i < s->count; i++) {
        struct simulated_group *g = &s->groups[i];
        double hits = s->load(i, s->now) * (double)step / 1e9;

        g->true_hits += hits;
        if (g->open)
            g->hits += hits;
        else if (g->gone_at > s->now)
            g->late += hits;
        else
            continue;
        spend(s, hits * hit_ns);
        s->target_cpu += hits * hit_ns;
        s->spent_in_hits += hits * hit_ns;
    }
    s->target_cpu += s->cpu * (double)step;
    s->now += step;
}

static inline void report(struct simulation *s, unsigned i)
{
    struct simulated_group *g = &s->groups[i];

    budget_spend(s->budget, i, s->now, (g->hits - g->reported) * hit_ns);
    g->reported = g->hits;
}

static inline void close_group(struct simulation *s, unsigned i)
{
    struct simulated_group *g = &s->groups[i];
    uint64_t represents = budget_closed(s->budget, i, s->now);

    assert_true(represents >= s->now - g->opened);
    if (s->now > g->opened)
        g->scaled_hits += g->hits * (double)represents / (double)(s->now - g->opened);
    g->covered += s->now - g->opened;
    g->represented += represents;
    g->open = false;
    g->late = 0;
    g->gone_at = s->now + gone_time;
    g->detach_done = s->now + detach_time;
}

static inline void step_group(struct simulation *s, unsigned i)
{
    struct simulated_group *g = &s->groups[i];
    uint64_t until;

    if (g->attach_done && s->now >= g->attach_done) {
        g->attach_done = 0;
        g->open = true;
        g->opened = s->now;
        g->hits = g->reported = 0;
        spend(s, attach_ns);
        budget_opened(s->budget, i, s->now, attach_time, attach_ns);
    }
    if (g->detach_done && s->now >= g->detach_done) {
        g->detach_done = 0;
        spend(s, attach_ns);
        budget_detached(s->budget, i, attach_ns + g->late * hit_ns);
    }
    if (g->open && (s->now % (10 * MS) == 0 || s->now - g->opened == 2 * MS))
        report(s, i);
    switch (budget_order(s->budget, i, s->now, &until)) {
    case BUDGET_OPEN:
        g->attach_done = s->now + attach_time;
        break;
    case BUDGET_CLOSE:
        report(s, i);
        close_group(s, i);
        break;
    case BUDGET_WAIT:
        assert_true(until > s->now);
    }
    if (g->open && s->now > jump_at) {
        uint64_t since = g->opened > jump_at ? g->opened : jump_at;

        if (s->now - since > g->longest_after_jump)
            g->longest_after_jump = s->now - since;
    }
}

static inline void run(struct simulation *s, uint64_t time)
{
    const uint64_t step = MS / 4;

    for (uint64_t end = s->now + time; s->now < end;) {
        if (s->now % (10 * MS) == 0)
            budget_income(s->budget, s->now, (uint64_t)s->target_cpu);
        for (unsigned i = 0; i < s->count; i++)
            step_group(s, i);
        run_load(s, step);
    }
}

/* End the recording: close all open groups. */
static inline void finish(struct simulation *s)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (s->groups[i].open)
            close_group(s, i);
    }
}

/* Return the cost of the probes as a part of the CPU time that the target used itself. */
static inline double cost_part(const struct simulation *s)
{
    return s->spent / (s->target_cpu - s->spent_in_hits);
}

static inline double scaled_to_true(const struct simulation *s, unsigned group)
{
    return s->groups[group].scaled_hits / s->groups[group].true_hits;
}

/* ---- loads ---- */

static double steady_rate;

static inline double steady(unsigned group, uint64_t now)
{
    (void)group;
    (void)now;
    return steady_rate;
}

#define assert_near(value, expected, distance) assert_true(fabs((value) - (expected)) <= (distance))
