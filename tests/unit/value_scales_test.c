// SPDX-License-Identifier: Apache-2.0
/* Values of samples are multiplied so that they add up to the totals, and what a file says of it
 * is checked. */
#include "small_profile.h"

#include "profile/value_scales.h"

enum { EVENT = 3, TARGET = 2, SAMPLES = 1000 };

/* One sample of value 7; every tenth is exact and has value 100. */
static struct sample sample_at(int i)
{
    struct sample sample = {.event = EVENT, .values = {7}};

    if (i % 10 == 0)
        sample = (struct sample){.event = EVENT, .values = {100}, .flags = SAMPLE_EXACT};
    return sample;
}

/* Return the sum of all samples, and of the exact ones, after they are scaled to `total`. */
static uint64_t scaled_sum(uint64_t total, uint64_t *ret_exact)
{
    struct value_scales scales = {0};
    struct value_scale *scale = value_scales_place(&scales, EVENT, TARGET);
    uint64_t sum = 0;

    scale->totals[0] = total;
    *ret_exact = 0;
    for (int i = 0; i < SAMPLES; i++) {
        struct sample sample = sample_at(i);

        value_scale_count(scale, &sample);
    }
    for (int i = 0; i < SAMPLES; i++) {
        struct sample sample = sample_at(i);

        value_scales_apply(&scales, TARGET, &sample);
        sum += sample.values[0];
        if (sample.flags & SAMPLE_EXACT)
            *ret_exact += sample.values[0];
    }
    value_scales_free(&scales);
    return sum;
}

static void assert_near(uint64_t number, uint64_t expected)
{
    assert_in_range(number, expected - 1, expected);
}

/* 900 samples of 7 and 100 exact ones of 100 add up to 16,300. */
static void test_samples_add_up_to_the_total(void **state)
{
    uint64_t exact;

    (void)state;
    assert_near(scaled_sum(20000, &exact), 20000);
    assert_int_equal(exact, 10000);
    assert_near(scaled_sum(12345, &exact), 12345);
    assert_int_equal(exact, 10000);
}

/* The total is an estimate: what is known exactly can exceed it. */
static void test_a_total_below_the_exact_samples_scales_all(void **state)
{
    uint64_t exact;

    (void)state;
    assert_in_range(scaled_sum(5000, &exact), 4998, 5000);
    assert_in_range(exact, 3000, 3100);
}

static void test_values_without_a_total_stay(void **state)
{
    uint64_t exact;

    (void)state;
    assert_int_equal(scaled_sum(0, &exact), 16300);
}

static void test_another_target_is_not_scaled(void **state)
{
    struct value_scales scales = {0};
    struct value_scale *scale = value_scales_place(&scales, EVENT, TARGET);
    struct sample sample = sample_at(1);

    (void)state;
    value_scale_count(scale, &sample);
    scale->totals[0] = 700;
    value_scales_apply(&scales, TARGET + 1, &sample);
    assert_int_equal(sample.values[0], 7);
    value_scales_apply(&scales, TARGET, &sample);
    assert_int_equal(sample.values[0], 700);
    value_scales_free(&scales);
}

static void put_scale(struct buffer *bytes, event_id event, target_id target)
{
    buffer_varint(bytes, event);
    buffer_varint(bytes, target);
    for (int v = 0; v < 3 * EVENT_VALUES; v++)
        buffer_varint(bytes, UINT64_MAX - (unsigned)v);
}

static const char *problem_of(const struct buffer *bytes, struct value_scales *ret_scales)
{
    struct cursor cursor = cursor_over(bytes->data, bytes->size);

    value_scales_decode(ret_scales, &cursor);
    return cursor.problem;
}

static void test_scales_are_read_as_they_were_written(void **state)
{
    struct value_scales scales = {0};
    struct buffer bytes = {0}, again = {0};

    (void)state;
    buffer_varint(&bytes, 3);
    put_scale(&bytes, 1, 1);
    put_scale(&bytes, 4, 1);
    put_scale(&bytes, 2, 2);
    assert_null(problem_of(&bytes, &scales));
    assert_int_equal(scales.count, 3);
    value_scales_encode(&scales, &again);
    assert_int_equal(again.size, bytes.size);
    assert_memory_equal(again.data, bytes.data, bytes.size);
    value_scales_free(&scales);
    buffer_free(&bytes);
    buffer_free(&again);
}

/* Scales in any order would have to be sorted in, one by one. */
static void test_scales_out_of_order_are_refused(void **state)
{
    struct value_scales scales = {0};
    struct buffer bytes = {0};

    (void)state;
    buffer_varint(&bytes, 2);
    put_scale(&bytes, 1, 2);
    put_scale(&bytes, 4, 1);
    assert_string_equal(problem_of(&bytes, &scales), "scales out of order");
    value_scales_free(&scales);
    buffer_free(&bytes);
}

static void test_too_many_scales_are_refused(void **state)
{
    struct value_scales scales = {0};
    struct buffer bytes = {0};

    (void)state;
    buffer_varint(&bytes, 65537);
    assert_string_equal(problem_of(&bytes, &scales), "too many scales");
    assert_int_equal(scales.count, 0);
    buffer_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_add_up_to_the_total),
        cmocka_unit_test(test_a_total_below_the_exact_samples_scales_all),
        cmocka_unit_test(test_values_without_a_total_stay),
        cmocka_unit_test(test_another_target_is_not_scaled),
        cmocka_unit_test(test_scales_are_read_as_they_were_written),
        cmocka_unit_test(test_scales_out_of_order_are_refused),
        cmocka_unit_test(test_too_many_scales_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
