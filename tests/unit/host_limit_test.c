// SPDX-License-Identifier: Apache-2.0
/* The budget of the host, by a clock that the test sets. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdint.h>
#include <time.h>

#include "capture/governor.h"

static const double PART = 0.01;  /* 10 ms a second */
static const double INCOME = 5e6; /* half of it */
static const double LEAST = 1e6;  /* of the host's budget, where this program needs all of it */
static const uint64_t TICK = 100000000, MS = 1000000;

/* The clock of this program, and its CPU time. */
static uint64_t now, own_cpu;

/* Instead of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    uint64_t ns = clock == CLOCK_PROCESS_CPUTIME_ID ? own_cpu : now;

    *time = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    return 0;
}

static void test_own_time_counts_after_a_tick(void **state)
{
    struct host_limit *limit;
    unsigned member;

    (void)state;
    now = 10 * TICK;
    limit = host_limit_new(PART);
    member = host_limit_join(limit);
    assert_float_equal(host_limit_scale(limit, member, INCOME), 1, 0);
    now += TICK - MS;
    own_cpu += TICK / 2;
    assert_float_equal(host_limit_scale(limit, member, INCOME), 1, 0);
    now += MS;
    assert_float_equal(host_limit_scale(limit, member, INCOME), LEAST / INCOME, 1e-9);
    host_limit_leave(limit, member);
    host_limit_free(limit);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_time_counts_after_a_tick),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
