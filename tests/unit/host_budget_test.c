// SPDX-License-Identifier: Apache-2.0
/* The CPU time that VMs and this program may use together. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>

#include "budget/budget.h"

#define SECOND 1000000000ull

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 0.01 * expected))
        fail_msg("%g is not %g", value, expected);
}

/* 1 % of a CPU is 10 ms a second. */
static void test_budgets_that_fit_are_not_scaled(void **state)
{
    struct host_budget *host = host_budget_new(0.01, SECOND, 0);
    unsigned first = host_budget_join(host), second = host_budget_join(host);

    (void)state;
    assert_near(host_budget_scale(host, first, 5e6), 1);
    assert_near(host_budget_scale(host, second, 5e6), 1);
    host_budget_free(host);
}

static void test_budgets_above_the_hosts_are_scaled_alike(void **state)
{
    struct host_budget *host = host_budget_new(0.01, SECOND, 0);
    unsigned first = host_budget_join(host), second = host_budget_join(host);

    (void)state;
    host_budget_scale(host, first, 30e6);
    assert_near(host_budget_scale(host, second, 10e6), 0.25);
    assert_near(host_budget_scale(host, first, 30e6), 0.25);
    host_budget_free(host);
}

static void test_vm_that_ends_leaves_room_to_others(void **state)
{
    struct host_budget *host = host_budget_new(0.01, SECOND, 0);
    unsigned first = host_budget_join(host), second = host_budget_join(host);

    (void)state;
    host_budget_scale(host, first, 30e6);
    host_budget_leave(host, first);
    assert_near(host_budget_scale(host, second, 10e6), 1);
    assert_int_equal(host_budget_join(host), first);
    host_budget_free(host);
}

static void test_own_cpu_time_is_taken_off(void **state)
{
    struct host_budget *host = host_budget_new(0.01, SECOND, 5 * SECOND);
    unsigned member = host_budget_join(host);

    (void)state;
    /* 0.6 % of a CPU for a minute */
    for (uint64_t i = 1; i <= 600; i++)
        host_budget_own(host, SECOND + i * SECOND / 10, 5 * SECOND + i * 600000);
    assert_near(host_budget_scale(host, member, 10e6), 0.4);
    host_budget_free(host);
}

static void test_a_tenth_is_left_to_probes(void **state)
{
    struct host_budget *host = host_budget_new(0.01, SECOND, 0);
    unsigned member = host_budget_join(host);

    (void)state;
    for (uint64_t i = 1; i <= 600; i++)
        host_budget_own(host, SECOND + i * SECOND / 10, i * SECOND / 20);
    assert_near(host_budget_scale(host, member, 10e6), 0.1);
    host_budget_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budgets_that_fit_are_not_scaled),
        cmocka_unit_test(test_budgets_above_the_hosts_are_scaled_alike),
        cmocka_unit_test(test_vm_that_ends_leaves_room_to_others),
        cmocka_unit_test(test_own_cpu_time_is_taken_off),
        cmocka_unit_test(test_a_tenth_is_left_to_probes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
