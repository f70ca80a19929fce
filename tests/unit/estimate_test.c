// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/estimate.h"

enum { STRATA = 50, MS = 1000000 };

static double uniform(uint64_t *random)
{
    *random = *random * 6364136223846793005 + 1442695040888963407;
    return (double)(*random >> 11) * 0x1p-53;
}

/* The rate of a part of a stratum: one that goes up and down slowly, and noise upon it. */
static double rate_at(int stratum, uint64_t *random)
{
    return 1000 * (2 + sin(stratum / 8.0)) + 600 * (uniform(random) - 0.5);
}

/* The interval holds the true total in about 95 of 100 recordings, whatever part of the time is
 * seen, one of `parts`; and it is not just wide: it is about as wide as totals scatter. */
static void check_interval(int parts)
{
    const int runs = 2000;
    uint64_t random = 7;
    int held = 0;
    double squares = 0, widths = 0;

    for (int run = 0; run < runs; run++) {
        struct estimate estimate = {0};
        double truth = 0, error;

        for (int i = 0; i < STRATA; i++) {
            double seen = rate_at(i, &random);

            truth += seen;
            for (int part = 1; part < parts; part++)
                truth += rate_at(i, &random);
            estimate_add(&estimate, 10 * MS, 10.0 * MS * parts, seen);
        }
        error = estimate_error(&estimate);
        held += fabs(estimate.total - truth) <= error;
        squares += (estimate.total - truth) * (estimate.total - truth);
        widths += error;
    }
    assert_in_range(held, 0.92 * runs, 0.98 * runs);
    assert_true(widths / runs < 1.3 * 1.96 * sqrt(squares / runs));
}

static void test_interval(void **state)
{
    (void)state;
    check_interval(20);
    check_interval(2);
}

/* What was seen all of the time is exact, also between windows. */
static void test_exact(void **state)
{
    struct estimate estimate = {0};

    (void)state;
    assert_true(estimate_error(&estimate) == 0);
    estimate_add(&estimate, 1000 * MS, 1000 * MS, 5);
    estimate_add(&estimate, 1000 * MS, 1000 * MS, 500);
    estimate_add(&estimate, 0, 0, 0);
    assert_true(estimate.total == 505);
    assert_true(estimate_error(&estimate) == 0);
    estimate_add(&estimate, 10 * MS, 100 * MS, 3);
    assert_true(estimate.total == 535);
    assert_true(isnan(estimate_error(&estimate)));
    for (int i = 0; i < 10; i++)
        estimate_add(&estimate, 10 * MS, 100 * MS, 3);
    assert_true(estimate_error(&estimate) == 0);
    assert_true(estimate.seen_ns == 2110.0 * MS);
    assert_true(estimate.represented_ns == 3100.0 * MS);
    estimate_add(&estimate, 1000 * MS, 1000 * MS, 500);
    assert_true(estimate_error(&estimate) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
