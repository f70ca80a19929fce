// SPDX-License-Identifier: Apache-2.0
/* How long a request waits before it is sent again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "push/push_client.h"

static const struct push_reply later = {.outcome = PUSH_LATER};

static void test_wait_doubles_up_to_a_minute(void **state)
{
    static const double waits[] = {1, 2, 4, 8, 16, 32, 60, 60, 60};
    struct push_backoff backoff = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
        assert_true(push_backoff_wait(&backoff, &later, 0) == waits[i]);
    for (int i = 0; i < 1000; i++)
        assert_true(push_backoff_wait(&backoff, &later, 0) == 60);
}

static void test_random_half_is_left_out(void **state)
{
    static const double randoms[] = {0, 0.25, 0.5, 1};

    (void)state;
    for (size_t i = 0; i < sizeof(randoms) / sizeof(randoms[0]); i++) {
        struct push_backoff backoff = {.failures = 3};

        assert_true(push_backoff_wait(&backoff, &later, randoms[i]) == 8 - 4 * randoms[i]);
    }
}

static void test_other_replies_wait_for_nothing_and_end_the_row(void **state)
{
    static const enum push_outcome others[] = {PUSH_ACCEPTED, PUSH_REFUSED};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct push_backoff backoff = {.failures = 5};
        struct push_reply reply = {.outcome = others[i], .retry_after = 30};

        assert_true(push_backoff_wait(&backoff, &reply, 0) == 0);
        assert_true(push_backoff_wait(&backoff, &later, 0) == 1);
    }
}

/* The wait is at least the service's, however many failures there were; but not more than an
 * hour. */
static void test_service_may_ask_for_up_to_an_hour(void **state)
{
    static const struct {
        double asked, wait;
    } cases[] = {{30, 30 + 1}, {3600, 3600 + 1}, {1e18, 3600 + 1}, {-5, 1}, {0, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct push_backoff backoff = {0};
        struct push_reply reply = {.outcome = PUSH_LATER, .retry_after = cases[i].asked};

        assert_true(push_backoff_wait(&backoff, &reply, 0) == cases[i].wait);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wait_doubles_up_to_a_minute),
        cmocka_unit_test(test_random_half_is_left_out),
        cmocka_unit_test(test_other_replies_wait_for_nothing_and_end_the_row),
        cmocka_unit_test(test_service_may_ask_for_up_to_an_hour),
    };

    return cmocka_run_group_tests_name("push_backoff", tests, NULL, NULL);
}
