// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "budget/windows.h"

enum { MS = 1000000 };

static double uniform(uint64_t *random)
{
    *random = *random * 6364136223846793005 + 1442695040888963407;
    return (double)(*random >> 11) * 0x1p-53;
}

/* Return the rate of a part of a stratum: it rises and falls slowly, with noise added. */
static double rate_at(int stratum, uint64_t *random)
{
    return 1000 * (2 + sin(stratum / 8.0)) + 600 * (uniform(random) - 0.5);
}

static struct estimate_span span(double ms, double work)
{
    return (struct estimate_span){ms * MS, work};
}

/* Compares the totals of many recordings with the truth. */
struct check {
    int held;
    double sum, squares, widths;
};

static void compare(struct check *check, const struct estimate *estimate, struct estimate_span all,
                    double truth)
{
    double error = estimate_error(estimate, all), apart = estimate_total(estimate, all) - truth;

    check->held += fabs(apart) <= error;
    check->sum += apart / truth;
    check->squares += apart * apart;
    check->widths += error;
}

enum { RUNS = 2000 };

/* Check that the interval contains the true total in about 95 of 100 recordings, whatever share of
 * the time is sampled (one of `parts`), and that it is not too wide: its width fits the scatter of
 * the totals. */
static void check_interval(int strata, int parts)
{
    struct check check = {0};
    uint64_t random = 7;

    for (int run = 0; run < RUNS; run++) {
        struct estimate estimate = {0};
        double truth = 0;

        for (int i = 0; i < strata; i++) {
            double seen = rate_at(i, &random);

            truth += seen;
            for (int part = 1; part < parts; part++)
                truth += rate_at(i, &random);
            estimate_add(&estimate, span(10, 0), 10.0 * MS * parts, seen, 1e6);
        }
        compare(&check, &estimate, span(10.0 * parts * strata, 0), truth);
    }
    assert_in_range(check.held, 0.92 * RUNS, 0.98 * RUNS);
    assert_true(check.widths / RUNS < (strata < 5    ? 5
                                       : strata < 10 ? 2.5
                                                     : 1.3) *
                                          1.96 * sqrt(check.squares / RUNS));
}

static void test_interval_contains_the_true_total_95_times_in_100(void **state)
{
    (void)state;
    check_interval(50, 20);
    check_interval(50, 2);
    check_interval(10, 20);
    check_interval(5, 20);
    check_interval(3, 20);
}

/* Probes slow the target down, so it gets less done in windows, and its speed varies. By work, the
 * total and its interval are correct. By time, the total is far off. */
static void test_totals_by_work_are_correct_for_a_slowed_target(void **state)
{
    const int strata = 12, parts = 50;
    const double slowed = 0.6;
    struct check check = {0}, by_time = {0};
    uint64_t random = 11;

    (void)state;
    for (int run = 0; run < RUNS; run++) {
        struct estimate estimate = {0};
        double truth = 0, work = 0;

        for (int i = 0; i < strata; i++) {
            double done = rate_at(i, &random) * slowed, seen = done * (1 + 0.2 * uniform(&random));

            work += done;
            truth += seen;
            for (int part = 1; part < parts; part++) {
                double other = rate_at(i, &random);

                work += other;
                truth += other * (1 + 0.2 * uniform(&random));
            }
            estimate_add(&estimate, span(10, done), 10.0 * MS * parts, seen, 1e6);
        }
        compare(&check, &estimate, span(10.0 * parts * strata, work), truth);
        compare(&by_time, &estimate, span(10.0 * parts * strata, 0), truth);
    }
    assert_in_range(check.held, 0.92 * RUNS, 0.98 * RUNS);
    assert_true(fabs(check.sum / RUNS) < 0.01);
    assert_true(check.widths / RUNS < 1.5 * 1.96 * sqrt(check.squares / RUNS));
    assert_true(by_time.sum / RUNS < -0.3);
}

/* Counts of windows that cover all of the time are exact, also with gaps between them. */
static void test_totals_of_full_coverage_are_exact(void **state)
{
    struct estimate estimate = {0};

    (void)state;
    assert_true(estimate_total(&estimate, span(0, 0)) == 0);
    assert_true(estimate_error(&estimate, span(0, 0)) == 0);
    estimate_add(&estimate, span(1000, 7), 1000 * MS, 5, 5);
    estimate_add(&estimate, span(1000, 8), 1000 * MS, 500, 5);
    estimate_add(&estimate, span(0, 0), 0, 0, 0);
    assert_true(estimate_total(&estimate, span(2000, 15)) == 505);
    assert_true(estimate_total(&estimate, span(1900, 20)) == 505);
    assert_true(estimate_error(&estimate, span(2000, 15)) == 0);
    estimate_add(&estimate, span(10, 0), 100 * MS, 3, 3);
    assert_true(estimate_total(&estimate, span(2100, 15)) == 535);
    assert_true(isnan(estimate_error(&estimate, span(2100, 15))));
    for (int i = 0; i < 10; i++)
        estimate_add(&estimate, span(10, 0), 100 * MS, 3, 3);
    assert_true(estimate_error(&estimate, span(3100, 15)) > 2 * 10 * sqrt(33) * sqrt(0.9));
    assert_true(estimate.seen_ns == 2110.0 * MS);
    assert_true(estimate.represented_ns == 3100.0 * MS);
    estimate_add(&estimate, span(1000, 0), 1000 * MS, 500, 5);
    assert_true(estimate_error(&estimate, span(4100, 0)) < 3 * 10 * sqrt(33));
}

/* Hits that come at random and rarely: some windows have one, most have none. */
static void test_interval_of_few_hits_contains_the_true_total(void **state)
{
    const int strata = 40, parts = 20;
    int held = 0, wide = 0;
    uint64_t random = 13;

    (void)state;
    for (int run = 0; run < RUNS; run++) {
        struct estimate estimate = {0};
        const struct estimate_span all = span(10.0 * parts * strata, 0);
        double truth = 0;

        for (int i = 0; i < strata; i++) {
            double seen = uniform(&random) < 0.15;

            truth += seen;
            for (int part = 1; part < parts; part++)
                truth += uniform(&random) < 0.15;
            estimate_add(&estimate, span(10, 0), 10.0 * MS * parts, seen * 7, seen);
        }
        held += fabs(estimate_total(&estimate, all) - truth * 7) <= estimate_error(&estimate, all);
        wide += estimate_error(&estimate, all) > 2 * estimate_total(&estimate, all);
    }
    assert_in_range(held, 0.95 * RUNS, RUNS);
    assert_in_range(wide, 0, 0.05 * RUNS);
}

/* A quarter of the windows has nearly all of the work and hits, and hits differ for the same work.
 */
static void test_interval_of_bursts_contains_the_true_total(void **state)
{
    uint64_t random = 13;

    (void)state;
    for (int strata = 4; strata <= 20; strata += 4) {
        struct check check = {0};
        const struct estimate_span all =
            span(200.0 * strata, 20 * strata * (0.25 * 2000 + 0.75 * 50));
        int told = 0;

        for (int run = 0; run < RUNS; run++) {
            struct estimate estimate = {0};

            for (int i = 0; i < strata; i++) {
                double work = uniform(&random) < 0.25 ? 2000 : 50;
                double hits = floor(work * (0.6 + 0.8 * uniform(&random)));

                estimate_add(&estimate, span(10, work), 200.0 * MS, hits, hits);
            }
            if (isnan(estimate_error(&estimate, all)))
                continue;
            told++;
            compare(&check, &estimate, all, all.work);
        }
        if (told < RUNS / 3 || check.held < 0.9 * told)
            fail_msg("%d windows: %d of %d intervals hold the truth", strata, check.held, told);
    }
}

/* Windows with 200, 5, 5 and 5 hits are worth 215 * 215 / (200 * 199 + 60) = 1.2 equal ones: the
 * first decides nearly everything. */
static void test_hits_of_nearly_one_window_have_an_unknown_error(void **state)
{
    struct estimate estimate = {0};

    (void)state;
    for (int i = 0; i < 4; i++)
        estimate_add(&estimate, span(10, 0), 1000 * MS, i ? 5 : 200, i ? 5 : 200);
    assert_true(isnan(estimate_error(&estimate, span(4000, 0))));
    estimate_add(&estimate, span(10, 0), 1000 * MS, 100, 100);
    assert_false(isnan(estimate_error(&estimate, span(5000, 0))));
}

/* Windows that are all alike by chance do not make a total certain. */
static void test_equal_windows_have_an_error(void **state)
{
    struct estimate estimate = {0};
    double error;

    (void)state;
    for (int i = 0; i < 10; i++)
        estimate_add(&estimate, span(10, 5000), 1000 * MS, 4, 1);
    error = estimate_error(&estimate, span(10000, 5e6));
    assert_true(estimate_total(&estimate, span(10000, 5e6)) == 4000);
    /* Of 10 hits, the upper limit is 18.39. */
    assert_true(fabs(error - 4000 * 0.839) < 40);
}

/* If the target counts a value itself, only hits that it does not count are uncertain: no more than
 * 4 in as many hits as were seen, if none was. That needs one window. */
static void test_value_that_the_target_counts_needs_one_window(void **state)
{
    struct estimate hits = {.is_counted = true}, amount = {.is_counted = true};

    (void)state;
    for (int i = 1; i <= 10; i++) {
        estimate_add(&hits, span(10, 20), 1000 * MS, 20, 20);
        estimate_add(&amount, span(10, 5000), 1000 * MS, 5000, 20);
        assert_true(fabs(estimate_error(&hits, span(10000, 4000)) - 4000 * 3.67 / (20 * i)) <
                    10.0 / i);
        assert_true(fabs(estimate_error(&amount, span(10000, 4000)) - 4000 * 3.67 / (20 * i)) <
                    10.0 / i);
    }
    assert_true(fabs(estimate_total(&hits, span(10000, 4000)) - 4000) < 1e-6);
    estimate_add(&hits, span(10, 20), 1000 * MS, 22, 22);
    assert_in_range(estimate_error(&hits, span(11000, 4400)), 100, 160);
}

/* If the target counts a value, windows with few hits differ only by the hits that their edges cut.
 * The total is the target's count, and its interval is as wide as the difference. */
static void test_hits_that_edges_cut_do_not_change_a_count(void **state)
{
    struct estimate cut = {.is_counted = true}, more = {.is_counted = true};

    (void)state;
    for (int i = 0; i < 10; i++) {
        estimate_add(&cut, span(10, 10), 1000 * MS, 10 + i % 3, 10 + i % 3);
        estimate_add(&more, span(10, 10), 1000 * MS, 15, 15);
    }
    assert_true(estimate_total(&cut, span(10000, 9000)) == 9000);
    assert_true(estimate_error(&cut, span(10000, 9000)) > 9000 * 0.07);
    assert_true(fabs(estimate_total(&more, span(10000, 9000)) - 13500) < 1e-6);
}

/* Few hits leave a total to chance, although each unit of work had a hit, or the value was like the
 * work in all windows. */
static void test_hits_that_are_alike_by_chance_are_not_certain(void **state)
{
    struct estimate hits = {0}, like = {0}, other = {0};

    (void)state;
    for (int i = 0; i < 10; i++) {
        estimate_add(&hits, span(10, 2 + i % 3), 1000 * MS, 2 + i % 3, 2 + i % 3);
        estimate_add(&like, span(10, 200 + i), 1000 * MS, 200 + i, 2);
        estimate_add(&other, span(10, 200), 1000 * MS, 1000, 2);
    }
    /* Of 29 units of work, all had a hit. Three of a hundred may have none, and each of the 10
     * windows may cut one. */
    assert_true(estimate_error(&hits, span(10000, 4000)) > 4000 * 6.0 / 29);
    assert_true(estimate_error(&hits, span(10000, 4000)) < 4000 * 7.0 / 29);
    assert_true(estimate_error(&like, span(10000, 300000)) > 0.3 * 3e5);
    assert_true(estimate_error(&other, span(10000, 200000)) > 0.5 * 1e6);
}

/* Each unit of work has a hit, but one of 40 windows ends between some units and their hits. Most
 * recordings of 30 windows have one such window or none. */
static void test_interval_of_hits_that_edges_cut_contains_the_true_total(void **state)
{
    const int strata = 30, units = 200;
    const struct estimate_span all = span(200.0 * strata, 20.0 * strata * units);
    struct check check = {0};
    uint64_t random = 13;

    (void)state;
    for (int run = 0; run < RUNS; run++) {
        struct estimate estimate = {0};

        for (int i = 0; i < strata; i++) {
            double hits = units - (uniform(&random) < 0.025 ? 6 : 0);

            estimate_add(&estimate, span(10, units), 200.0 * MS, hits, hits);
        }
        compare(&check, &estimate, all, all.work * (1 - 0.025 * 6 / units));
    }
    assert_in_range(check.held, 0.9 * RUNS, RUNS);
    assert_true(check.widths / RUNS < 0.004 * all.work);
}

/* Windows without work say nothing of a value that goes with the work: hits of one window are one
 * sample, however many windows there were. */
static void test_hits_of_one_window_have_an_unknown_error(void **state)
{
    struct estimate estimate = {0};

    (void)state;
    for (int i = 0; i < 10; i++)
        estimate_add(&estimate, span(10, 0), 1000 * MS, 0, 0);
    estimate_add(&estimate, span(10, 41), 1000 * MS, 1000, 41);
    assert_true(isnan(estimate_error(&estimate, span(11000, 3000))));
    assert_true(isnan(estimate_error(&estimate, span(11000, 0))));
    estimate_add(&estimate, span(10, 30), 1000 * MS, 900, 30);
    estimate_add(&estimate, span(10, 35), 1000 * MS, 950, 35);
    assert_false(isnan(estimate_error(&estimate, span(13000, 3000))));
}

/* The target worked, but in no window: the windows that stand for themselves tell the total, if
 * there were any, and nothing tells the error. */
static void test_work_outside_of_all_windows_has_an_unknown_error(void **state)
{
    struct estimate estimate = {0}, first = {0};

    (void)state;
    estimate_add(&first, span(100, 50), 100 * MS, 7, 7);
    assert_true(estimate_total(&first, span(1000, 100)) == 14);
    assert_true(estimate_total(&first, span(100, 51)) == 7);
    for (int i = 0; i < 10; i++)
        estimate_add(&estimate, span(10, 0), 100 * MS, 0, 0);
    assert_true(estimate_error(&estimate, span(1000, 0)) == 0);
    assert_true(estimate_total(&estimate, span(1000, 500)) == 0);
    assert_true(isnan(estimate_error(&estimate, span(1000, 500))));
    estimate_add(&estimate, span(100, 50), 100 * MS, 7, 7);
    assert_true(estimate_total(&estimate, span(1100, 500)) == 70);
    assert_true(isnan(estimate_error(&estimate, span(1100, 500))));
    assert_true(estimate_error(&estimate, span(1100, 50)) == 0);
    estimate_add(&estimate, span(10, 5), 100 * MS, 1, 1);
    assert_true(estimate_total(&estimate, span(1200, 550)) == 107);
    assert_true(isnan(estimate_error(&estimate, span(1200, 550))));
    for (int i = 0; i < 2; i++)
        estimate_add(&estimate, span(10, 5), 100 * MS, 1, 1);
    assert_false(isnan(estimate_error(&estimate, span(1400, 550))));
}

/* Scaled windows without hits do not make the hits of exact windows the whole total, unless the
 * target did all its work in exact windows. */
static void test_hits_of_exact_windows_alone_have_an_unknown_error(void **state)
{
    struct estimate estimate = {0};

    (void)state;
    estimate_add(&estimate, span(100, 50), 100 * MS, 7, 2);
    for (int i = 0; i < 10; i++)
        estimate_add(&estimate, span(10, 5), 100 * MS, 0, 0);
    assert_true(estimate_total(&estimate, span(1100, 550)) == 7);
    assert_true(isnan(estimate_error(&estimate, span(1100, 550))));
    assert_true(isnan(estimate_error(&estimate, span(1100, 0))));
    assert_true(estimate_error(&estimate, span(1100, 50)) == 0);
    estimate_add(&estimate, span(10, 5), 100 * MS, 1, 1);
    assert_true(estimate_error(&estimate, span(1200, 600)) > 0);
}

/* The last stratum extends beyond the end, or no window sampled it: the time that truly passed
 * counts, in the total and in the interval. */
static void test_total_covers_the_time_that_truly_passed(void **state)
{
    struct estimate estimate = {0};
    double error;

    (void)state;
    estimate_add(&estimate, span(100, 50), 100 * MS, 7, 7);
    assert_true(isnan(estimate_error(&estimate, span(1000, 500))));
    assert_true(estimate_total(&estimate, span(1000, 500)) == 70);
    for (int i = 0; i < 10; i++)
        estimate_add(&estimate, span(10, 5), 100 * MS, 2 + i % 2, 1e6);
    assert_true(fabs(estimate_total(&estimate, span(600, 300)) - 7 - 125) < 1e-9);
    assert_true(fabs(estimate_total(&estimate, span(2100, 1050)) - 7 - 500) < 1e-9);
    assert_true(fabs(estimate_total(&estimate, span(2100, 2050)) - 7 - 1000) < 1e-9);
    assert_true(fabs(estimate_total(&estimate, span(2100, 0)) - 7 - 500) < 1e-9);
    assert_true(estimate_slowdown(&estimate, span(600, 300)) == 1);
    assert_true(fabs(estimate_slowdown(&estimate, span(2100, 2050)) - 2) < 1e-9);
    assert_true(estimate_slowdown(&estimate, span(2100, 0)) == 1);
    error = estimate_error(&estimate, span(600, 300));
    assert_true(error > 5);
    assert_true(fabs(estimate_error(&estimate, span(2100, 1050)) / error - 4) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interval_contains_the_true_total_95_times_in_100),
        cmocka_unit_test(test_totals_by_work_are_correct_for_a_slowed_target),
        cmocka_unit_test(test_totals_of_full_coverage_are_exact),
        cmocka_unit_test(test_interval_of_few_hits_contains_the_true_total),
        cmocka_unit_test(test_interval_of_bursts_contains_the_true_total),
        cmocka_unit_test(test_hits_of_nearly_one_window_have_an_unknown_error),
        cmocka_unit_test(test_equal_windows_have_an_error),
        cmocka_unit_test(test_value_that_the_target_counts_needs_one_window),
        cmocka_unit_test(test_hits_that_edges_cut_do_not_change_a_count),
        cmocka_unit_test(test_hits_that_are_alike_by_chance_are_not_certain),
        cmocka_unit_test(test_interval_of_hits_that_edges_cut_contains_the_true_total),
        cmocka_unit_test(test_hits_of_one_window_have_an_unknown_error),
        cmocka_unit_test(test_work_outside_of_all_windows_has_an_unknown_error),
        cmocka_unit_test(test_hits_of_exact_windows_alone_have_an_unknown_error),
        cmocka_unit_test(test_total_covers_the_time_that_truly_passed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
