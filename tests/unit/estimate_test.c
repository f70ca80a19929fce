// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/estimate.h"

enum { MS = 1000000 };

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
static void check_interval(int strata, int parts)
{
    const int runs = 2000;
    uint64_t random = 7;
    int held = 0;
    double squares = 0, widths = 0;

    for (int run = 0; run < runs; run++) {
        struct estimate estimate = {0};
        double truth = 0, error, apart, span = 10.0 * MS * parts * strata;

        for (int i = 0; i < strata; i++) {
            double seen = rate_at(i, &random);

            truth += seen;
            for (int part = 1; part < parts; part++)
                truth += rate_at(i, &random);
            estimate_add(&estimate, 10 * MS, 10.0 * MS * parts, seen);
        }
        error = estimate_error(&estimate, span);
        apart = estimate_total(&estimate, span) - truth;
        held += fabs(apart) <= error;
        squares += apart * apart;
        widths += error;
    }
    assert_in_range(held, 0.92 * runs, 0.98 * runs);
    assert_true(widths / runs < (strata < 10 ? 2.5 : 1.3) * 1.96 * sqrt(squares / runs));
}

static void test_interval(void **state)
{
    (void)state;
    check_interval(50, 20);
    check_interval(50, 2);
    check_interval(10, 20);
    check_interval(5, 20);
}

/* What was seen all of the time is exact, also between windows. */
static void test_exact(void **state)
{
    struct estimate estimate = {0};

    (void)state;
    assert_true(estimate_total(&estimate, 0) == 0);
    assert_true(estimate_error(&estimate, 0) == 0);
    estimate_add(&estimate, 1000 * MS, 1000 * MS, 5);
    estimate_add(&estimate, 1000 * MS, 1000 * MS, 500);
    estimate_add(&estimate, 0, 0, 0);
    assert_true(estimate_total(&estimate, 2000.0 * MS) == 505);
    assert_true(estimate_total(&estimate, 1900.0 * MS) == 505);
    assert_true(estimate_error(&estimate, 2000.0 * MS) == 0);
    estimate_add(&estimate, 10 * MS, 100 * MS, 3);
    assert_true(estimate_total(&estimate, 2100.0 * MS) == 535);
    assert_true(isnan(estimate_error(&estimate, 2100.0 * MS)));
    for (int i = 0; i < 10; i++)
        estimate_add(&estimate, 10 * MS, 100 * MS, 3);
    assert_true(estimate_error(&estimate, 3100.0 * MS) == 0);
    assert_true(estimate.seen_ns == 2110.0 * MS);
    assert_true(estimate.represented_ns == 3100.0 * MS);
    estimate_add(&estimate, 1000 * MS, 1000 * MS, 500);
    assert_true(estimate_error(&estimate, 4100.0 * MS) == 0);
}

/* The last stratum reaches beyond the end, or was not seen: the time that there was is what counts,
 * and the interval is of it. */
static void test_span(void **state)
{
    struct estimate estimate = {0};
    double error;

    (void)state;
    estimate_add(&estimate, 100 * MS, 100 * MS, 7);
    assert_true(isnan(estimate_error(&estimate, 1000.0 * MS)));
    assert_true(estimate_total(&estimate, 1000.0 * MS) == 70);
    for (int i = 0; i < 10; i++)
        estimate_add(&estimate, 10 * MS, 100 * MS, 2 + i % 2);
    assert_true(fabs(estimate_total(&estimate, 600.0 * MS) - 7 - 125) < 1e-9);
    assert_true(fabs(estimate_total(&estimate, 2100.0 * MS) - 7 - 500) < 1e-9);
    error = estimate_error(&estimate, 600.0 * MS);
    assert_true(error > 5);
    assert_true(fabs(estimate_error(&estimate, 2100.0 * MS) / error - 4) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_span),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
