// SPDX-License-Identifier: Apache-2.0
/* The plan of probes on simulated loads: a target that uses CPU time, groups of probes with a hit
 * rate, and the governor's tick. */
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

static struct simulation *simulate(load_function load, unsigned count, double cpu, uint64_t seed)
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

static void simulation_free(struct simulation *s)
{
    budget_free(s->budget);
    free(s);
}

static void spend(struct simulation *s, double cost)
{
    s->spent += cost;
}

/* Simulate the hits of [now, now + step), at a constant rate. */
static void run_load(struct simulation *s, uint64_t step)
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

static void report(struct simulation *s, unsigned i)
{
    struct simulated_group *g = &s->groups[i];

    budget_spend(s->budget, i, s->now, (g->hits - g->reported) * hit_ns);
    g->reported = g->hits;
}

static void close_group(struct simulation *s, unsigned i)
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

static void step_group(struct simulation *s, unsigned i)
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

static void run(struct simulation *s, uint64_t time)
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
static void finish(struct simulation *s)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (s->groups[i].open)
            close_group(s, i);
    }
}

/* Return the cost of the probes as a part of the CPU time that the target used itself. */
static double cost_part(const struct simulation *s)
{
    return s->spent / (s->target_cpu - s->spent_in_hits);
}

static double scaled_to_true(const struct simulation *s, unsigned group)
{
    return s->groups[group].scaled_hits / s->groups[group].true_hits;
}

/* ---- loads ---- */

static double steady_rate;

static double steady(unsigned group, uint64_t now)
{
    (void)group;
    (void)now;
    return steady_rate;
}

static double before_jump;

static double jumping(unsigned group, uint64_t now)
{
    (void)group;
    return now < jump_at ? before_jump : 100 * before_jump;
}

/* Each group is hit ten times as often as the one before. */
static double spread(unsigned group, uint64_t now)
{
    (void)now;
    return 2000 * pow(10, group);
}

/* Bursts of random length at random times, with another pattern for each seed. */
enum { BURSTS = 4096 };
static uint64_t bursts[BURSTS][2];

static double uniform_part(uint64_t *random)
{
    *random = *random * 6364136223846793005 + 1442695040888963407;
    return (double)(*random >> 11) * 0x1p-53;
}

static void make_bursts(uint64_t random, double length, double gap)
{
    uint64_t at = 0;

    for (int i = 0; i < BURSTS; i++) {
        bursts[i][0] = at += (uint64_t)(-log(1 - uniform_part(&random)) * gap);
        bursts[i][1] = at += (uint64_t)(-log(1 - uniform_part(&random)) * length);
    }
}

static double bursty(unsigned group, uint64_t now)
{
    int low = 0, high = BURSTS;

    (void)group;
    while (high - low > 1) {
        int middle = (low + high) / 2;

        if (bursts[middle][0] <= now)
            low = middle;
        else
            high = middle;
    }
    return now >= bursts[low][0] && now < bursts[low][1] ? 400000 : 500;
}

/* Bursts of 10 ms, ten a second. */
static double periodic(unsigned group, uint64_t now)
{
    (void)group;
    return now % (100 * MS) < 10 * MS ? 400000 : 500;
}

/* ---- tests ---- */

#define assert_near(value, expected, distance) assert_true(fabs((value) - (expected)) <= (distance))

/* At any rate, the cost stays within the budget, and totals are correct. Cheap probes are never
 * closed; expensive ones use most of the budget. */
static void test_cost_stays_within_the_budget_at_any_rate(void **state)
{
    const uint64_t time = 60 * SECOND;

    (void)state;
    for (steady_rate = 10; steady_rate <= 1e6; steady_rate *= 10) {
        struct simulation *s = simulate(steady, 1, 1, 1);
        const struct simulated_group *group = &s->groups[0];

        run(s, time);
        assert_int_equal(budget_is_continuous(s->budget, 0), steady_rate <= 1e4);
        finish(s);
        assert_true(cost_part(s) <= PART);
        assert_near(scaled_to_true(s, 0), 1, 0.02);
        assert_near((double)group->represented / (double)time, 1, 0.02);
        if (steady_rate <= 1e3)
            assert_int_equal(group->covered, group->represented);
        else
            assert_true(cost_part(s) > 0.7 * PART);
        simulation_free(s);
    }
}

/* If the rate jumps a hundredfold, beyond the budget, the group is closed within 200 ms, whether it
 * was open all of the time or in windows, and the debt is paid back. */
static void test_group_closes_soon_after_its_rate_jumps(void **state)
{
    (void)state;
    for (before_jump = 500; before_jump <= 50000; before_jump *= 10) {
        struct simulation *s = simulate(jumping, 1, 1, 1);

        jump_at = s->now + 10 * SECOND;
        run(s, 60 * SECOND);
        finish(s);
        assert_in_range(s->groups[0].longest_after_jump, 1, 200 * MS);
        assert_true(cost_part(s) <= PART);
        assert_near(scaled_to_true(s, 0), 1, 0.06); /* few windows after the highest jump */
        assert_true(budget_status(s->budget, 0).cut > 0);
        simulation_free(s);
    }
    jump_at = UINT64_MAX;
}

/* If the rate jumps within a window that was planned to be long, the group is closed within 20 ms.
 */
static void test_long_window_closes_soon_after_the_rate_jumps(void **state)
{
    (void)state;
    before_jump = 15000;
    for (unsigned i = 0; i < 10; i++) {
        struct simulation *s = simulate(jumping, 1, 1, 1);

        jump_at = s->now + 10 * SECOND + i * 20 * MS;
        run(s, 20 * SECOND);
        assert_in_range(s->groups[0].longest_after_jump, 1, 20 * MS);
        simulation_free(s);
    }
    jump_at = UINT64_MAX;
}

/* If attaching is expensive, windows are longer and fewer, so that most of the cost is that of
 * hits. */
static void test_windows_are_longer_if_attaching_is_expensive(void **state)
{
    struct simulation *s = simulate(steady, 1, 1, 1);

    (void)state;
    steady_rate = 1e5;
    attach_ns = 1e6;
    run(s, 60 * SECOND);
    assert_true(cost_part(s) <= PART);
    assert_true((double)s->groups[0].covered * steady_rate * hit_ns / 1e9 > 0.5 * s->spent);
    attach_ns = 80e3;
    simulation_free(s);
}

/* Check that the plan has spent no more than it has earned, except for so many windows that future
 * income pays for. */
static void check_spent(const struct simulation *s, double windows)
{
    double earned = PART * (s->target_cpu - s->spent_in_hits);
    double window = s->spent / (double)budget_status(s->budget, 0).windows;

    assert_true(s->spent <= earned + windows * window);
}

/* Only CPU time that the target has used is spent, whatever was predicted: from the start on, and
 * if the target uses less CPU time than at the start. */
static void test_only_cpu_time_that_the_target_has_used_is_spent(void **state)
{
    (void)state;
    for (steady_rate = 1e4; steady_rate <= 1e6; steady_rate *= 10) {
        struct simulation *s = simulate(steady, 1, 0.25, 1);

        run(s, SECOND);
        check_spent(s, 2);
        simulation_free(s);

        s = simulate(steady, 1, 2, 1);
        run(s, 200 * MS);
        s->cpu = 0.2;
        run(s, 5 * SECOND);
        check_spent(s, 3);
        simulation_free(s);
    }
}

/* Groups share the budget: a group that needs little gets it, and the others divide the rest
 * equally. */
static void test_groups_share_the_budget(void **state)
{
    struct simulation *s = simulate(spread, GROUPS_MAX, 2, 1);
    double income;

    (void)state;
    run(s, 60 * SECOND);
    income = budget_status(s->budget, 0).income;
    assert_near(income, 2 * PART * 1e9, 0.1 * 2 * PART * 1e9);
    assert_true(budget_is_continuous(s->budget, 0));
    assert_near(budget_status(s->budget, 1).share, budget_status(s->budget, 3).share, 1);
    assert_true(budget_status(s->budget, 3).share > 0.28 * income);
    finish(s);
    assert_true(cost_part(s) <= PART);
    for (unsigned i = 0; i < GROUPS_MAX; i++)
        assert_near(scaled_to_true(s, i), 1, 0.03);
    simulation_free(s);

    /* The share of a group that cannot be opened goes to the others. */
    s = simulate(spread, GROUPS_MAX, 2, 1);
    budget_retire(s->budget, 3);
    run(s, 60 * SECOND);
    assert_true(budget_status(s->budget, 2).share > 0.4 * income);
    assert_int_equal(s->groups[3].covered, 0);
    simulation_free(s);
}

/* On a host with many CPUs the budget would allow hundreds of windows a second. There are 10 at
 * most, which are longer and still use the budget. */
static void test_many_cpus_give_at_most_10_windows_a_second(void **state)
{
    struct simulation *s = simulate(steady, GROUPS_MAX, 64, 1);
    uint64_t windows = 0;

    (void)state;
    steady_rate = 1e6;
    run(s, 60 * SECOND);
    finish(s);
    for (unsigned i = 0; i < GROUPS_MAX; i++) {
        windows += budget_status(s->budget, i).windows;
        assert_near(scaled_to_true(s, i), 1, 0.03);
    }
    assert_true(windows > 5 * 60 && windows <= 10 * 60 + 20);
    assert_true(cost_part(s) <= PART);
    assert_true(cost_part(s) > 0.6 * PART);
    simulation_free(s);
}

/* An idle target has its probes all of the time: they cost nothing but attaching. */
static void test_probes_of_an_idle_target_stay_attached(void **state)
{
    struct simulation *s = simulate(steady, GROUPS_MAX, 0, 1);

    (void)state;
    steady_rate = 3;
    run(s, 60 * SECOND);
    for (unsigned i = 0; i < GROUPS_MAX; i++)
        assert_true(budget_is_continuous(s->budget, i));
    finish(s);
    assert_true(s->spent < 2e6);
    simulation_free(s);
}

/* Check that the mean over many recordings of a load with bursts is the true total, although the
 * bursts close windows early and make strata longer. */
static void check_unbiased(load_function load, double length, double gap, int runs)
{
    double sum = 0, squares = 0, spent = 0, mean, error;

    for (int i = 1; i <= runs; i++) {
        struct simulation *s = simulate(load, 1, 1, (uint64_t)i);

        make_bursts((uint64_t)i, length, gap);
        run(s, 60 * SECOND);
        finish(s);
        sum += scaled_to_true(s, 0);
        squares += scaled_to_true(s, 0) * scaled_to_true(s, 0);
        spent += cost_part(s);
        simulation_free(s);
    }
    mean = sum / runs;
    error = sqrt((squares / runs - mean * mean) / runs);
    assert_true(spent / runs <= PART);
    assert_true(error < 0.03);
    assert_near(mean, 1, 0.01 + 2.5 * error);
}

static void test_mean_total_of_bursty_loads_is_the_true_total(void **state)
{
    (void)state;
    check_unbiased(bursty, 20e6, 200e6, 50);
    check_unbiased(bursty, 100e6, 500e6, 50);
    check_unbiased(bursty, 1e9, 3e9, 40);
    check_unbiased(periodic, 0, 0, 60);
}

/* Stacks take their part of the share, however long the group is open. */
static void test_stacks_cost_their_part_of_the_share(void **state)
{
    const double stack_ns = 3000;

    (void)state;
    for (steady_rate = 1000; steady_rate <= 1e6; steady_rate *= 10) {
        struct simulation *s = simulate(steady, 1, 1, 1);
        double open, stacks;

        run(s, 60 * SECOND);
        stacks = budget_stacks(s->budget, 0, stack_ns, 1e9);
        finish(s);
        open = (double)s->groups[0].covered / (60.0 * 1e9);
        assert_near(stacks * open * stack_ns / 1e9, PART / 3, PART / 10);
        simulation_free(s);
    }
}

/* The limit of stacks holds over 100 ms: a window of 2 ms may take as many as one of 100 ms. */
static void test_short_windows_take_all_stacks_of_100_ms(void **state)
{
    struct simulation *s;
    struct budget_status status;
    double window;

    (void)state;
    steady_rate = 1e6;
    s = simulate(steady, 1, 1, 1);
    assert_true(budget_stacks(s->budget, 0, 1e-3, 2000) == 2000);
    run(s, 60 * SECOND);
    status = budget_status(s->budget, 0);
    finish(s);
    window = (double)s->groups[0].covered / (double)status.windows;
    assert_true(window < 50e6);
    assert_near(budget_stacks(s->budget, 0, 1e-3, 2000) * window / 1e9, 200, 60);
    simulation_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost_stays_within_the_budget_at_any_rate),
        cmocka_unit_test(test_group_closes_soon_after_its_rate_jumps),
        cmocka_unit_test(test_long_window_closes_soon_after_the_rate_jumps),
        cmocka_unit_test(test_windows_are_longer_if_attaching_is_expensive),
        cmocka_unit_test(test_only_cpu_time_that_the_target_has_used_is_spent),
        cmocka_unit_test(test_groups_share_the_budget),
        cmocka_unit_test(test_probes_of_an_idle_target_stay_attached),
        cmocka_unit_test(test_mean_total_of_bursty_loads_is_the_true_total),
        cmocka_unit_test(test_stacks_cost_their_part_of_the_share),
        cmocka_unit_test(test_short_windows_take_all_stacks_of_100_ms),
        cmocka_unit_test(test_many_cpus_give_at_most_10_windows_a_second),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
