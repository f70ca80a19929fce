// SPDX-License-Identifier: Apache-2.0
/* The windows in which probes are attached: how long and how many they are, when they close early,
 * and that the totals of all windows are the true ones. */
#include "budget_simulation.h"

static double before_jump;

static double jumping(unsigned group, uint64_t now)
{
    (void)group;
    return now < jump_at ? before_jump : 100 * before_jump;
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

/* If attaching is expensive, windows are longer and fewer, so that hits are most of the cost. */
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

/* The first stratum after the start is as long as attaching twice needs: here 1,000 s for 10 ms, so
 * 12 of 20 runs have a window in the first 600 s. */
static void test_first_stratum_pays_for_attaching(void **state)
{
    enum { RUNS = 20 };
    uint64_t windows = 0;

    (void)state;
    attach_ns = 5e6;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct simulation *s = simulate(steady, 1, 0, seed);

        budget_scale(s->budget, 0.01);
        steady_rate = 0;
        run(s, 5 * SECOND); /* until the scale has its effect */
        steady_rate = 1e5;
        run(s, 600 * SECOND);
        windows += budget_status(s->budget, 0).windows - 1; /* without the one at the start */
        simulation_free(s);
    }
    assert_in_range(windows, 6, 17);
    attach_ns = 80e3;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group_closes_soon_after_its_rate_jumps),
        cmocka_unit_test(test_long_window_closes_soon_after_the_rate_jumps),
        cmocka_unit_test(test_windows_are_longer_if_attaching_is_expensive),
        cmocka_unit_test(test_first_stratum_pays_for_attaching),
        cmocka_unit_test(test_mean_total_of_bursty_loads_is_the_true_total),
        cmocka_unit_test(test_many_cpus_give_at_most_10_windows_a_second),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
