// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/first_interval.h"
#include "util/random.h"

static void test_limits_are_a_second_and_the_interval(void **state)
{
    (void)state;
    assert_true(first_interval(15, 0) == 1);
    assert_true(first_interval(15, UINT64_MAX) == 15);
    assert_true(first_interval(1, 0) == 1);
    assert_true(first_interval(1, UINT64_MAX) == 1);
}

/* Of 10,000 agents that start together, 714 end their first recording in each of 14 seconds on
 * average. The standard deviation is 26. */
static void test_agents_end_their_first_recordings_evenly(void **state)
{
    enum { AGENTS = 10000, SECONDS = 14 };
    unsigned ends[SECONDS + 1] = {0};

    (void)state;
    for (int i = 0; i < AGENTS; i++)
        ends[(int)first_interval(SECONDS + 1, random_word()) - 1]++;
    for (int i = 0; i < SECONDS; i++)
        assert_in_range(ends[i], 714 - 160, 714 + 160);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_are_a_second_and_the_interval),
        cmocka_unit_test(test_agents_end_their_first_recordings_evenly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
