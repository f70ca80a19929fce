// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "session/wall.h"

/* The processes that were read have the time of all. */
static void test_read_processes_stand_for_all(void **state)
{
    (void)state;
    assert_int_equal(wall_population_weight(50, 100, 1000), 500);
    assert_int_equal(wall_population_weight(50, 97, 1000), 515);
    assert_int_equal(wall_population_weight(50000000, 1000, 1000), 50000000);
}

static void test_share_is_that_of_all_sweeps(void **state)
{
    struct wall_population population = {0};

    (void)state;
    assert_true(wall_population_read(&population) == 1);
    wall_population_add(&population, 100, 1000, 50);
    wall_population_add(&population, 98, 100, 50);
    assert_true(fabs(wall_population_read(&population) - 198.0 / 1100) < 1e-12);
    wall_population_add(&population, 2000, 100, 50); /* more started meanwhile */
    assert_true(wall_population_read(&population) == 1);
}

/* The number of processes between sweeps follows from how it differs at sweeps: from 1000 to 1100
 * and back, for 50 ns each. */
static void test_time_of_all_is_sure_while_their_number_is(void **state)
{
    struct wall_population population = {0};

    (void)state;
    for (int i = 0; i < 10; i++)
        wall_population_add(&population, 100, 1000, 50);
    assert_true(wall_population_error(&population) == 0);
    wall_population_add(&population, 100, 1100, 50);
    wall_population_add(&population, 100, 1000, 50);
    assert_true(fabs(wall_population_error(&population) - 100 * 50) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_processes_stand_for_all),
        cmocka_unit_test(test_share_is_that_of_all_sweeps),
        cmocka_unit_test(test_time_of_all_is_sure_while_their_number_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
