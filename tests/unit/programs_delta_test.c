// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "capture/programs.h"
#include "log_histogram.h"

/* Every count is subtracted: all are numbers of 8 bytes. */
static void test_every_count_is_subtracted(void **state)
{
    struct wire_slot_counts now, before;
    uint64_t *words = (uint64_t *)&now, *old = (uint64_t *)&before;

    (void)state;
    for (size_t i = 0; i < sizeof(now) / sizeof(*words); i++) {
        words[i] = 1000 * i + 7;
        old[i] = 1000 * i;
    }
    programs_counts_since(&now, &before);
    for (size_t i = 0; i < sizeof(now) / sizeof(*words); i++)
        assert_int_equal(words[i], 7);
}

static void add(struct wire_histogram *histogram, uint64_t number)
{
    histogram->buckets[log_histogram_bucket(number)]++;
    if (number > histogram->max)
        histogram->max = number;
}

static uint64_t max_since(const struct wire_histogram *now, const struct wire_histogram *before)
{
    struct wire_histogram histogram = *now;

    programs_histogram_since(&histogram, before);
    return histogram.max;
}

/* Buckets contain the counts since the earlier reading. The maximum is exact if it was reached
 * since then, and otherwise as exact as the buckets. */
static void test_histogram_difference_has_the_new_counts_and_maximum(void **state)
{
    struct wire_histogram none = {0}, before = {0}, now, since;

    (void)state;
    add(&before, 5);
    add(&before, 1000);
    assert_int_equal(max_since(&before, &none), 1000);
    assert_int_equal(max_since(&before, &before), 0);
    now = before;
    add(&now, 5);
    assert_int_equal(max_since(&now, &before), 5);
    add(&now, 17);
    assert_int_equal(max_since(&now, &before), 19);
    add(&now, 990); /* in the bucket of the maximum */
    assert_int_equal(max_since(&now, &before), 1000);
    add(&now, 2000);
    assert_int_equal(max_since(&now, &before), 2000);
    since = now;
    programs_histogram_since(&since, &before);
    assert_int_equal(since.buckets[log_histogram_bucket(5)], 1);
    assert_int_equal(since.buckets[log_histogram_bucket(1000)], 1);
    assert_int_equal(since.buckets[log_histogram_bucket(2000)], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_count_is_subtracted),
        cmocka_unit_test(test_histogram_difference_has_the_new_counts_and_maximum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
