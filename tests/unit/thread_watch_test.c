// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include "symbol/thread_watch.h"
#include "util/clock.h"

static const uint64_t MS = 1000000;
/* The kernel accounts a running thread up to its last tick; there are 100 ticks a second or
 * more. */
static const uint64_t LAG = 11000000;

static void work(uint64_t ns)
{
    uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
}

static void *run(void *argument)
{
    pthread_barrier_t *barrier = argument;

    pthread_barrier_wait(barrier); /* it has run */
    pthread_barrier_wait(barrier); /* it may end */
    return NULL;
}

/* Return the time of the calling thread. */
static const struct thread_time *mine(const struct thread_times *times,
                                      const struct profile *profile)
{
    for (size_t i = 0; i < times->count; i++)
        if (profile_get_thread(profile, times->list[i].thread)->tid == (uint32_t)gettid())
            return &times->list[i];
    return NULL;
}

/* In another profile, times begin where they ended in the old one, to the nanosecond; threads that
 * have ended before are absent. */
static void test_times_continue_in_another_profile(void **state)
{
    struct profile *first = profile_new(), *second = profile_new();
    struct thread_watch *watch = thread_watch_new(getpid(), 0, first);
    struct thread_times before = {0}, none = {0}, after = {0};
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    pthread_t thread;
    pthread_barrier_t barrier;

    (void)state;
    pthread_barrier_init(&barrier, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, run, &barrier), 0);
    pthread_barrier_wait(&barrier);
    thread_watch_look(watch);
    work(20 * MS);
    thread_watch_look(watch);
    thread_watch_get(watch, &before);
    assert_int_equal(before.count, 2);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    thread_watch_look(watch);
    before.count = 0;
    thread_watch_get(watch, &before);

    thread_watch_move(watch, second, 0);
    thread_watch_get(watch, &none);
    assert_int_equal(none.count, 0);
    work(20 * MS);
    thread_watch_look(watch);
    thread_watch_get(watch, &after);
    cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;

    assert_int_equal(after.count, 1);
    assert_int_equal(mine(&after, second)->from, mine(&before, first)->to);
    assert_in_range(mine(&after, second)->cpu_ns, 20 * MS - LAG, cpu);
    assert_in_range(mine(&before, first)->cpu_ns + mine(&after, second)->cpu_ns, 40 * MS - LAG,
                    cpu);
    thread_watch_free(watch);
    thread_times_free(&before);
    thread_times_free(&none);
    thread_times_free(&after);
    profile_free(first);
    profile_free(second);
    pthread_barrier_destroy(&barrier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_continue_in_another_profile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
