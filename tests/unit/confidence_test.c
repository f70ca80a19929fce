// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "util/confidence.h"

/* Tabulated upper limits of the 95 % interval of a Poisson mean (Garwood 1936). */
static void test_upper_limits_of_counts_are_the_tabulated_ones(void **state)
{
    static const double limits[][2] = {{0, 3.689},  {1, 5.572},   {2, 7.225},    {5, 11.668},
                                       {8, 15.763}, {10, 18.390}, {100, 121.627}};

    (void)state;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        double limit = limits[i][0] + confidence_poisson_half(limits[i][0]);

        assert_true(fabs(limit / limits[i][1] - 1) < 0.01);
    }
}

/* Student's t at 97.5 %, with the degrees of freedom of successive differences. */
static void test_few_windows_have_wider_intervals(void **state)
{
    (void)state;
    assert_true(fabs(confidence_errors(1e9) - 1.96) < 0.001);
    assert_true(fabs(confidence_errors(7) - 2.73) < 0.05); /* 4.2 degrees */
    assert_true(confidence_errors(3) > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_upper_limits_of_counts_are_the_tabulated_ones),
        cmocka_unit_test(test_few_windows_have_wider_intervals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
