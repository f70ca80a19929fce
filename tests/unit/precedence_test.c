// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/precedence.h"

struct priority {
    int policy, nice;
};

/* A thread with a priority takes precedence. Its priority is then `after`. */
struct
try {
    struct priority before, after;
    int (*take)(int nice);
    int code;
};

static void *take(void *argument)
{
    struct try *try = argument;
    const struct sched_param none = {0};

    sched_setscheduler(0, try->before.policy, &none);
    setpriority(PRIO_PROCESS, (id_t)gettid(), try->before.nice);
    try->code = try->take(-7);
    try->after.policy = sched_getscheduler(0);
    try->after.nice = getpriority(PRIO_PROCESS, (id_t)gettid());
    return NULL;
}

static struct try result_of(int (*take_by)(int nice), int policy, int nice)
{
    struct try try = {.before = {policy, nice}, .take = take_by};
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, take, &try), 0);
    pthread_join(thread, NULL);
    if (try.code)
        skip(); /* without CAP_SYS_NICE */
    return try;
}

static void test_default_priority_is_raised(void **state)
{
    int ours = getpriority(PRIO_PROCESS, (id_t)gettid());
    struct try try = result_of(precedence_take_if_default, SCHED_OTHER, 0);

    (void)state;
    assert_int_equal(try.after.nice, -7);
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)gettid()), ours);
}

static void test_chosen_priority_stays(void **state)
{
    (void)state;
    assert_int_equal(result_of(precedence_take_if_default, SCHED_OTHER, 5).after.nice, 5);
    assert_int_equal(result_of(precedence_take_if_default, SCHED_OTHER, -3).after.nice, -3);
    assert_int_equal(result_of(precedence_take_if_default, SCHED_IDLE, 0).after.policy, SCHED_IDLE);
    assert_int_equal(result_of(precedence_take_if_default, SCHED_BATCH, 0).after.policy,
                     SCHED_BATCH);
}

static void test_any_priority_can_be_raised(void **state)
{
    struct try try = result_of(precedence_take, SCHED_IDLE, 19);

    (void)state;
    assert_int_equal(try.after.policy, SCHED_OTHER);
    assert_int_equal(try.after.nice, -7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_priority_is_raised),
        cmocka_unit_test(test_chosen_priority_stays),
        cmocka_unit_test(test_any_priority_can_be_raised),
    };

    return cmocka_run_group_tests_name("precedence", tests, NULL, NULL);
}
