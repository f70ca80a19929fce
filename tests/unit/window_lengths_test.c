// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "budget/windows.h"

enum { MS = 1000000 };

/* If windows cover all of the time nothing is scaled, even if they come one by one. */
static void test_adjoining_windows_scale_nothing(void **state)
{
    struct window_lengths lengths = {0};

    (void)state;
    for (uint64_t i = 5; i < 15; i++)
        window_lengths_add(&lengths, i * MS, (i + 1) * MS, MS);
    assert_true(window_lengths_scale(&lengths, 0) == 1);
    assert_true(window_lengths_scale(&lengths, 8 * MS) == 1);
}

static double uniform(uint64_t *random)
{
    *random = *random * 6364136223846793005 + 1442695040888963407;
    return (double)(*random >> 11) * 0x1p-53;
}

/* Simulate things of `ns` that begin at any time, and a window of 10 to 30 ms in each 100 ms.
 * Return the scaled number of those within windows, divided by the true number. */
static double found(uint64_t ns)
{
    struct window_lengths lengths = {0};
    double seen = 0, all = 0;
    uint64_t random = 11;

    for (uint64_t stratum = 1; stratum <= 2000; stratum++) {
        uint64_t length = 10 * MS + stratum % 20 * MS;
        uint64_t start =
            stratum * 100 * MS + (uint64_t)(uniform(&random) * (double)(100 * MS - length));

        window_lengths_add(&lengths, start, start + length, 100 * MS);
        for (int i = 0; i < 100; i++) {
            uint64_t begin = stratum * 100 * MS + (uint64_t)(uniform(&random) * 100 * MS);

            all++;
            seen += begin >= start && begin + ns <= start + length;
        }
    }
    return seen * window_lengths_scale(&lengths, ns) / all;
}

static void test_scaled_count_of_long_durations_is_correct(void **state)
{
    (void)state;
    assert_float_equal(found(0), 1, 0.03);
    assert_float_equal(found(5 * MS), 1, 0.03);
    assert_float_equal(found(15 * MS), 1, 0.03);
    assert_float_equal(found(25 * MS), 1, 0.06);
    assert_true(found(40 * MS) == 0);
}

static void test_scale_is_1_without_windows(void **state)
{
    struct window_lengths lengths = {0};

    (void)state;
    assert_true(window_lengths_scale(&lengths, MS) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adjoining_windows_scale_nothing),
        cmocka_unit_test(test_scaled_count_of_long_durations_is_correct),
        cmocka_unit_test(test_scale_is_1_without_windows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
