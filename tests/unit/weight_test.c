// SPDX-License-Identifier: Apache-2.0
/* Amounts as numbers of periods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "output/weight.h"

static void test_amounts_become_the_nearest_number_of_periods(void **state)
{
    static const struct {
        uint64_t period, amount, periods;
    } cases[] = {{0, 7, 7},   {1, 0, 0},  {1, 1, 1},  {1, 7, 7},   {2, 1, 1},  {2, 5, 3},
                 {3, 1, 0},   {3, 2, 1},  {3, 4, 1},  {3, 5, 2},   {10, 4, 0}, {10, 5, 1},
                 {10, 14, 1}, {11, 5, 0}, {11, 6, 1}, {11, 16, 1}, {11, 17, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(
            weight_of_amount(&(struct weight){.period = cases[i].period}, cases[i].amount),
            cases[i].periods);
}

/* A stack is not lost because it is alone, whatever the period. */
static void test_amounts_far_below_a_period_become_one(void **state)
{
    (void)state;
    for (uint64_t period = 1; period < 20; period++) {
        struct weight weight = {.period = period};
        struct weight_rounding rounding = weight_rounding_begin(&weight, 1);

        assert_int_equal(weight_round(&rounding, &weight, 1), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_amounts_become_the_nearest_number_of_periods),
        cmocka_unit_test(test_amounts_far_below_a_period_become_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
