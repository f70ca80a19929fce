// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "calls/call_times.h"

/* Add calls of one time that returned. */
static void add(struct call_times *times, uint64_t ns, uint64_t calls, uint64_t weight)
{
    call_times_add_returned(
        times, wire_time_bucket(ns),
        &(struct wire_time_row){
            .calls = calls, .weight = calls * weight, .ns = calls * ns, .longest = ns});
}

/* Buckets cover all times without gaps, and none is wider than a 64th of its times. */
static void test_buckets_are_narrow(void **state)
{
    uint32_t last = wire_time_bucket(UINT64_MAX);

    (void)state;
    assert_true(last < UINT16_MAX);
    for (uint32_t bucket = 0; bucket <= last; bucket++) {
        uint64_t low = call_times_low(bucket);

        assert_int_equal(wire_time_bucket(low), bucket);
        if (!bucket)
            continue;
        assert_int_equal(wire_time_bucket(low - 1), bucket - 1);
        assert_true(low - call_times_low(bucket - 1) <= 1 + low / 64);
    }
}

/* 3 calls of 10 words and a call of 50, whose weight is 2; 4 other calls have unknown words. */
static void test_words_are_those_of_measured_calls(void **state)
{
    struct call_times times = {0}, none = {0};

    (void)state;
    call_times_add_returned(
        &times, 5,
        &(struct wire_time_row){
            .calls = 7, .weight = 7, .measured = 3, .measured_weight = 3, .words = 30});
    call_times_add_returned(
        &none, 6,
        &(struct wire_time_row){
            .calls = 1, .weight = 2, .measured = 1, .measured_weight = 2, .words = 2 * 50});
    call_times_merge(&times, &none);
    assert_int_equal(times.measured, 4);
    assert_true(call_times_words(&times) == 130.0 / 5);
    assert_true(call_times_all_words(&times, 16) == 130.0 / 5 * 16 / 2);
    call_times_scale(&times, 90);
    assert_true(fabs(call_times_words(&times) - 130.0 / 5) < 1e-9);
    call_times_free(&none);
    assert_true(isnan(call_times_words(&none)));
    assert_true(isnan(call_times_all_words(&none, 0)));
    call_times_free(&times);
}

static void test_shares_of_calls_that_returned(void **state)
{
    struct call_times times = {0};
    struct call_time_summary summary;

    (void)state;
    add(&times, 5000, 1, 1);
    add(&times, 10, 60, 1);
    add(&times, 1000, 38, 1);
    add(&times, 70000, 1, 1);
    summary = call_times_summary(&times);
    assert_float_equal(summary.at[0], 10, 0.01);
    assert_float_equal(summary.at[1], 1000, 0.01);
    assert_float_equal(summary.at[2], 5000, 0.01);
    assert_float_equal(summary.longest, 70000, 0.01);
    assert_float_equal(summary.mean, 6 + 380 + 50 + 700, 0.01);
    assert_int_equal(times.returned, 100);
    call_times_free(&times);
}

/* Windows of 100 ns cut calls that take 40 or 150 ns, each half of all, so that only short ones are
 * seen to return; and long ones are not forgotten. */
static void test_calls_that_are_open(void **state)
{
    struct call_times times = {0};
    struct call_time_summary summary;

    (void)state;
    add(&times, 40, 60, 1);
    for (int i = 0; i < 100; i++) /* of 100 calls of each kind, in windows that begin at any time */
        call_times_add_open(&times, (uint64_t)i, 1);
    for (int i = 0; i < 40; i++)
        call_times_add_open(&times, (uint64_t)i, 1);
    summary = call_times_summary(&times);
    assert_float_equal(summary.at[0], 40, 0.01);
    assert_true(isnan(summary.at[1]) && isnan(summary.at[2]) && isnan(summary.mean));
    assert_float_equal(summary.longest, 40, 0.01);
    assert_float_equal(summary.seen, 99, 0.01);
    assert_true(summary.is_cut);
    assert_int_equal(times.open, 140);
    call_times_free(&times);
}

/* The example of a textbook: with calls of 1, 3, 4 and 5 that returned and of 2 that did not, the
 * share of longer calls is 4/5, 8/15, 4/15 and 0. */
static void test_product_limit(void **state)
{
    struct call_times times = {0};
    struct call_time_summary summary;

    (void)state;
    for (uint64_t ns = 1; ns <= 5; ns++)
        if (ns == 2)
            call_times_add_open(&times, ns, 1);
        else
            add(&times, ns, 1, 1);
    summary = call_times_summary(&times);
    assert_float_equal(summary.mean, 1 / 5.0 + 3 * 4 / 15.0 + 4 * 4 / 15.0 + 5 * 4 / 15.0, 1e-6);
    assert_float_equal(summary.at[0], 4, 0.01);
    assert_true(isnan(summary.at[1])); /* 90 % of 4 calls are all of them */
    assert_false(summary.is_cut);
    call_times_free(&times);
}

/* A caller that was measured for a tenth of the time counts as much as it calls. */
static void test_callers_are_scaled(void **state)
{
    struct call_times often = {0}, rare = {0};

    (void)state;
    add(&often, 10, 10, 1);
    add(&rare, 500, 50, 1);
    call_times_scale(&often, 900);
    call_times_scale(&rare, 100);
    call_times_merge(&often, &rare);
    assert_float_equal(call_times_summary(&often).mean, 59, 0.01);
    assert_float_equal(call_times_summary(&often).at[0], 10, 0.01);
    assert_int_equal(often.returned, 60);
    call_times_free(&often);
    call_times_free(&rare);
}

/* 3 of 4 calls are split, with a weight of 2; another call weighs 6, and waits all the time. */
static void test_parts_are_those_of_split_calls(void **state)
{
    struct call_times times = {0}, other = {0};
    struct call_split_sums mean;

    (void)state;
    assert_false(call_times_split(&times, &mean));
    call_times_add_returned(
        &times, 5,
        &(struct wire_time_row){
            .calls = 4, .weight = 8, .split_calls = 3, .split = {30, 3, 6, 0, 15}});
    call_times_add_returned(
        &other, 6,
        &(struct wire_time_row){.calls = 1, .weight = 6, .split_calls = 1, .split.waiting = 20});
    call_times_merge(&times, &other);
    call_times_scale(&times, 140);
    assert_int_equal(times.split, 4);
    assert_true(call_times_split(&times, &mean));
    assert_float_equal(mean.running, 5, 1e-9);
    assert_float_equal(mean.preempted, 0.5, 1e-9);
    assert_float_equal(mean.runnable, 1, 1e-9);
    assert_float_equal(mean.waiting, 10, 1e-9);
    assert_float_equal(mean.collecting, 2.5, 1e-9);
    call_times_free(&times);
    call_times_free(&other);
}

static void test_nothing_is_known_of_no_calls(void **state)
{
    struct call_times times = {0};
    struct call_time_summary summary;

    (void)state;
    call_times_scale(&times, 10);
    summary = call_times_summary(&times);
    assert_true(isnan(summary.at[0]) && isnan(summary.mean) && isnan(summary.longest));
}

/* Add calls whose time has parts of this length: running and waiting. */
static void add_split_calls(struct call_times *times, uint64_t running, uint64_t waiting,
                            uint64_t calls, uint64_t weight)
{
    const uint64_t parts[WIRE_CALL_PARTS] = {running, 0, 0, waiting, 0};

    call_times_add_returned(times, wire_time_bucket(running + waiting),
                            &(struct wire_time_row){.calls = calls,
                                                    .weight = calls * weight,
                                                    .ns = calls * (running + waiting),
                                                    .split_calls = calls});
    for (uint32_t i = 0; i < WIRE_CALL_PARTS; i++)
        call_times_add_part(
            times,
            &(struct wire_part_key){.time.bucket = (uint16_t)wire_time_bucket(parts[i]), .part = i},
            &(struct wire_part_row){calls, calls * weight, calls * parts[i]});
}

/* Shares of callers that are merged have their weights, and no part follows another. */
static void test_shares_of_parts(void **state)
{
    struct call_times times = {0}, other = {0};
    struct call_split_sums most;

    (void)state;
    add_split_calls(&times, 10, 700, 30, 1);
    add_split_calls(&times, 20, 50, 20, 1);
    add_split_calls(&other, 1000, 5, 10, 1);
    call_times_scale(&other, 50);
    call_times_merge(&times, &other);
    assert_true(call_times_split_share(&times, 0, &most));
    assert_float_equal(most.running, 20, 0.01);
    assert_float_equal(most.waiting, 5, 0.01);
    assert_float_equal(most.runnable, 0, 0.01);
    assert_true(call_times_split_share(&times, 1, &most));
    assert_float_equal(most.running, 1000, 0.01);
    assert_float_equal(most.waiting, 700, 0.01);
    assert_false(call_times_split_share(&times, 2, &most)); /* of 60 calls */
    times.split++;                                          /* a call whose parts had no room */
    assert_false(call_times_split_share(&times, 0, &most));
    call_times_free(&times);
    call_times_free(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buckets_are_narrow),
        cmocka_unit_test(test_words_are_those_of_measured_calls),
        cmocka_unit_test(test_shares_of_calls_that_returned),
        cmocka_unit_test(test_calls_that_are_open),
        cmocka_unit_test(test_product_limit),
        cmocka_unit_test(test_callers_are_scaled),
        cmocka_unit_test(test_parts_are_those_of_split_calls),
        cmocka_unit_test(test_shares_of_parts),
        cmocka_unit_test(test_nothing_is_known_of_no_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
