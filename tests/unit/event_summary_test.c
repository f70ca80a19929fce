// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "profile/event_summary.h"

/* Buckets are contiguous, and contain the numbers between their bounds. */
static void test_buckets_are_contiguous(void **state)
{
    (void)state;
    assert_int_equal(log_histogram_low(0), 0);
    for (uint32_t bucket = 0; bucket < 252; bucket++) {
        uint64_t low = log_histogram_low(bucket), next = log_histogram_low(bucket + 1);

        assert_true(low < next);
        assert_int_equal(log_histogram_bucket(low), bucket);
        assert_int_equal(log_histogram_bucket(next - 1), bucket < 251 ? bucket : 251);
        if (bucket >= 4 && bucket < 251)
            assert_true((next - low) * 4 <= low);
    }
    assert_int_equal(log_histogram_bucket(UINT64_MAX), 251);
    assert_int_equal(log_histogram_low(252), UINT64_MAX);
}

static void test_high_bit_of_any_number_is_found(void **state)
{
    (void)state;
    assert_int_equal(log_histogram_high_bit(0), 0);
    for (uint32_t bit = 0; bit < 64; bit++) {
        assert_int_equal(log_histogram_high_bit(1ull << bit), bit);
        assert_int_equal(log_histogram_high_bit(((1ull << bit) - 1) | 1ull << bit), bit);
    }
}

/* Percentiles of known numbers are less than a quarter off. */
static void test_percentiles_of_known_numbers_are_close(void **state)
{
    static const double percents[] = {1, 10, 50, 90, 99, 99.9};
    struct histogram histogram = {0};

    (void)state;
    for (uint64_t i = 1; i <= 100000; i++)
        histogram_add(&histogram, i * 10, 1);
    assert_int_equal(histogram_count(&histogram), 100000);
    for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
        double truth = percents[i] * 10000;
        double got = (double)histogram_percentile(&histogram, percents[i]);

        /* Evenly spread numbers give the best results. */
        assert_float_equal(got / truth, 1, 0.01);
    }
    assert_int_equal(histogram_percentile(&histogram, 100), 1000000);
}

static void test_empty_and_largest_numbers_have_percentiles(void **state)
{
    struct histogram histogram = {0};

    (void)state;
    assert_int_equal(histogram_percentile(&histogram, 50), 0);
    assert_int_equal(histogram_percentile(&histogram, 100), 0);
    histogram_add(&histogram, 5000, 0);
    assert_int_equal(histogram.max, 0);
    histogram_add(&histogram, 1000, 99);
    histogram_add(&histogram, UINT64_MAX, 1);
    assert_in_range(histogram_percentile(&histogram, 50), 896, 1023);
    assert_in_range(histogram_percentile(&histogram, 98.9), 896, 1023);
    assert_true(histogram_percentile(&histogram, 99.9) >= 7ull << 61);
    assert_int_equal(histogram_percentile(&histogram, 100), UINT64_MAX);
}

static void test_percentile_is_never_above_the_maximum(void **state)
{
    struct histogram histogram = {0};

    (void)state;
    histogram_add(&histogram, 1025, 10);
    assert_int_equal(histogram_percentile(&histogram, 99), 1025);
    assert_in_range(histogram_percentile(&histogram, 1), 1024, 1025);
}

/* A sum is sure if its interval is no wider to each side than the sum; it is not if the interval is
 * unknown. */
static void test_sum_with_a_wide_interval_is_not_sure(void **state)
{
    static const struct {
        uint64_t sum, error;
        bool is_sure;
    } cases[] = {
        {808386, 1132038, false},
        {0, 0, true},
        {100, 0, true},
        {100, 51, true},
        {100, 52, false},
        {0, 1, false},
        {100, EVENT_ERROR_UNKNOWN, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct event_summary summary = {.sums = {0, cases[i].sum},
                                              .errors = {0, cases[i].error}};

        assert_int_equal(event_summary_is_sure(&summary, 1), cases[i].is_sure);
    }
}

/* 3 hits in as much time as windows cover, scaled to all of it. */
static void test_windows_that_saw_no_hit_may_have_missed_some(void **state)
{
    static const struct {
        uint64_t span, covered, windows, most;
    } cases[] = {
        {1000, 1000, 0, 0}, {1000, 1000, 7, 0},       {1000, 500, 7, 6},
        {1000, 32, 7, 94},  {1000, 0, 7, UINT64_MAX}, {1000, 1, 0, 0}, /* not scaled */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct event_summary summary = {
            .span_ns = cases[i].span, .covered_ns = cases[i].covered, .windows = cases[i].windows};

        assert_int_equal(event_summary_unseen_at_most(&summary), cases[i].most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buckets_are_contiguous),
        cmocka_unit_test(test_high_bit_of_any_number_is_found),
        cmocka_unit_test(test_percentiles_of_known_numbers_are_close),
        cmocka_unit_test(test_empty_and_largest_numbers_have_percentiles),
        cmocka_unit_test(test_percentile_is_never_above_the_maximum),
        cmocka_unit_test(test_sum_with_a_wide_interval_is_not_sure),
        cmocka_unit_test(test_windows_that_saw_no_hit_may_have_missed_some),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
