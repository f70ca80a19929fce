// SPDX-License-Identifier: Apache-2.0
/* What probes cost: no more than the budget, divided among groups and stacks. */
#include "budget_simulation.h"

/* Each group is hit ten times as often as the one before. */
static double spread(unsigned group, uint64_t now)
{
    (void)now;
    return 2000 * pow(10, group);
}

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

/* A budget that is scaled down is spent to that part. What it allowed is still known. */
static void test_scaled_budget_spends_its_part(void **state)
{
    struct simulation *s;

    (void)state;
    steady_rate = 1e6;
    s = simulate(steady, 1, 1, 1);
    budget_scale(s->budget, 0.25);
    run(s, 60 * SECOND);
    assert_near(budget_allowed(s->budget) / 1e9, PART, PART / 10);
    finish(s);
    assert_near(s->spent / (60.0 * 1e9), PART / 4, PART / 20);
    simulation_free(s);
}

/* Where the budget is scaled down to nearly nothing, probes that cost less than the rarest windows
 * stay attached. The others have windows. */
static void test_probes_that_cost_less_than_windows_stay_attached(void **state)
{
    (void)state;
    for (steady_rate = 0.05; steady_rate <= 6e4; steady_rate *= 1e6) {
        struct simulation *s = simulate(steady, GROUPS_MAX, 0, 1);

        budget_scale(s->budget, 1e-4);
        run(s, 1500 * SECOND);
        for (unsigned i = 0; i < GROUPS_MAX; i++)
            assert_int_equal(budget_is_continuous(s->budget, i), steady_rate < 10);
        finish(s);
        simulation_free(s);
    }
}

/* Where the budget is scaled down to nearly nothing, an expensive group has one window each
 * hour. Its totals are correct. */
static void test_scaled_budget_has_a_window_each_hour(void **state)
{
    struct simulation *s;
    uint64_t windows;

    (void)state;
    steady_rate = 4e5;
    s = simulate(steady, 1, 0, 1);
    budget_scale(s->budget, 1e-4);
    run(s, 7200 * SECOND);
    windows = budget_status(s->budget, 0).windows;
    run(s, 72000 * SECOND);
    windows = budget_status(s->budget, 0).windows - windows;
    assert_in_range(windows, 19, 21);
    finish(s);
    assert_near(scaled_to_true(s, 0), 1, 0.05);
    simulation_free(s);
}

/* The mean number of stacks a second, over open and closed time, at a steady rate of hits. */
static double stacks_a_second(const struct stack_limits *limits)
{
    struct simulation *s = simulate(steady, 1, 1, 1);
    double stacks, open;

    run(s, 60 * SECOND);
    stacks = budget_stacks(s->budget, 0, limits);
    finish(s);
    open = (double)s->groups[0].covered / (60.0 * 1e9);
    simulation_free(s);
    return stacks * open;
}

/* Stacks take their part of the share, however long the group is open. */
static void test_stacks_cost_their_part_of_the_share(void **state)
{
    static const struct stack_limits limits = {.ns = 3000, .most = 1e9, .mean = INFINITY};

    (void)state;
    for (steady_rate = 1000; steady_rate <= 1e6; steady_rate *= 10)
        assert_near(stacks_a_second(&limits) * limits.ns / 1e9, PART / 3, PART / 10);
}

/* The mean of stacks is that of all time: the less time a group is open, the more it takes then. */
static void test_stacks_have_their_mean(void **state)
{
    static const struct stack_limits limits = {.ns = 1e-3, .most = 1e9, .mean = 5};

    (void)state;
    for (steady_rate = 1000; steady_rate <= 1e6; steady_rate *= 1000)
        assert_near(stacks_a_second(&limits), 5, 1);
}

/* The limit of stacks holds over 100 ms: a window of 2 ms may take as many as one of 100 ms. */
static void test_short_windows_take_all_stacks_of_100_ms(void **state)
{
    static const struct stack_limits limits = {.ns = 1e-3, .most = 2000, .mean = INFINITY};
    struct simulation *s;
    struct budget_status status;
    double window;

    (void)state;
    steady_rate = 1e6;
    s = simulate(steady, 1, 1, 1);
    assert_true(budget_stacks(s->budget, 0, &limits) == 2000);
    run(s, 60 * SECOND);
    status = budget_status(s->budget, 0);
    finish(s);
    window = (double)s->groups[0].covered / (double)status.windows;
    assert_true(window < 50e6);
    assert_near(budget_stacks(s->budget, 0, &limits) * window / 1e9, 200, 60);
    simulation_free(s);
}

/* No window stands for the time of a pause, and CPU time in it pays for no probes. */
static void test_pause_is_in_no_stratum(void **state)
{
    struct simulation *s;
    uint64_t before;

    (void)state;
    steady_rate = 1e6;
    s = simulate(steady, 1, 1, 1);
    run(s, 20 * SECOND);
    finish(s);
    before = s->groups[0].represented;
    s->now += 100 * SECOND;
    s->target_cpu += 100e9;
    budget_resume(s->budget, s->now, (uint64_t)s->target_cpu);
    run(s, 20 * SECOND);
    finish(s);
    assert_near((double)(s->groups[0].represented - before), 20e9, 2e9);
    assert_near(s->spent, PART * 40e9, PART * 4e9);
    simulation_free(s);
}

/* Open the group when it is due. Attaching takes `took`. */
static void open_when_due(struct budget *budget, uint64_t *now, uint64_t took)
{
    uint64_t until;

    while (budget_order(budget, 0, *now, &until) != BUDGET_OPEN) {
        *now = until;
        budget_income(budget, *now, *now);
    }
    *now += took;
    budget_opened(budget, 0, *now, took, 1e6);
}

/* A window that opens before its stratum, because attaching was quick, and that is closed at once,
 * stands for its own time at least, and not for much more. */
static void test_window_that_opens_early_stands_for_its_own_time(void **state)
{
    int early = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct budget *budget =
            budget_new(&(struct budget_options){.part = 0.01, .groups = 1, .seed = seed});
        uint64_t now = 0, until, represents;

        for (int cycle = 0; cycle < 3; cycle++) { /* attaching is slow */
            open_when_due(budget, &now, 200 * MS);
            do {
                now += MS;
                budget_spend(budget, 0, now, 0.8e6);
            } while (budget_order(budget, 0, now, &until) != BUDGET_CLOSE);
            budget_closed(budget, 0, now);
            budget_detached(budget, 0, 1e6);
        }
        open_when_due(budget, &now, 0);
        represents = budget_closed(budget, 0, now + MS);
        assert_true(represents >= MS);
        assert_true(represents < 60 * SECOND);
        early += represents == MS; /* else the stratum had begun before */
        budget_free(budget);
    }
    assert_true(early > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost_stays_within_the_budget_at_any_rate),
        cmocka_unit_test(test_only_cpu_time_that_the_target_has_used_is_spent),
        cmocka_unit_test(test_groups_share_the_budget),
        cmocka_unit_test(test_probes_of_an_idle_target_stay_attached),
        cmocka_unit_test(test_scaled_budget_spends_its_part),
        cmocka_unit_test(test_probes_that_cost_less_than_windows_stay_attached),
        cmocka_unit_test(test_stacks_cost_their_part_of_the_share),
        cmocka_unit_test(test_stacks_have_their_mean),
        cmocka_unit_test(test_short_windows_take_all_stacks_of_100_ms),
        cmocka_unit_test(test_scaled_budget_has_a_window_each_hour),
        cmocka_unit_test(test_pause_is_in_no_stratum),
        cmocka_unit_test(test_window_that_opens_early_stands_for_its_own_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
