// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbol/threads_internal.h"
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
    uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    pthread_t thread;
    pthread_barrier_t barrier;

    (void)state;
    pthread_barrier_init(&barrier, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, run, &barrier), 0);
    pthread_barrier_wait(&barrier);
    thread_watch_look(watch, false);
    work(20 * MS);
    thread_watch_look(watch, false);
    thread_watch_get(watch, &before);
    assert_int_equal(before.count, 2);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    thread_watch_look(watch, false);
    before.count = 0;
    thread_watch_get(watch, &before);

    thread_watch_move(watch, second, 0);
    thread_watch_get(watch, &none);
    assert_int_equal(none.count, 0);
    work(20 * MS);
    thread_watch_look(watch, false);
    thread_watch_get(watch, &after);
    cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;

    assert_int_equal(after.count, 1);
    assert_int_equal(mine(&after, second)->from, mine(&before, first)->to);
    assert_in_range(mine(&after, second)->cpu_ns, 20 * MS - LAG, cpu_ns);
    assert_in_range(mine(&before, first)->cpu_ns + mine(&after, second)->cpu_ns, 40 * MS - LAG,
                    cpu_ns);
    thread_watch_free(watch);
    thread_times_free(&before);
    thread_times_free(&none);
    thread_times_free(&after);
    profile_free(first);
    profile_free(second);
    pthread_barrier_destroy(&barrier);
}

/* The threads of a process that does not run are not read again, but are known until now. */
static void test_times_of_a_process_that_rests_go_on(void **state)
{
    struct profile *first = profile_new(), *second = profile_new();
    struct thread_times times = {0};
    struct thread_watch *watch;
    uint64_t last = 0;
    pid_t pid = fork();

    (void)state;
    if (pid == 0)
        for (;;)
            pause();
    usleep(50000); /* it begins to wait */
    watch = thread_watch_new(pid, 0, first);
    for (int i = 0; i < 3; i++) {
        usleep(10000);
        last = clock_ns(CLOCK_MONOTONIC);
        thread_watch_look(watch, false);
    }
    thread_watch_get(watch, &times);
    assert_int_equal(times.count, 1);
    assert_true(times.list[0].to >= last);

    thread_watch_move(watch, second, 0);
    usleep(10000);
    thread_watch_look(watch, false);
    times.count = 0;
    thread_watch_get(watch, &times);
    assert_int_equal(times.count, 1);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    thread_watch_free(watch);
    thread_times_free(&times);
    profile_free(first);
    profile_free(second);
}

/* ---- a tid that another thread gets ---- */

struct worker {
    uint64_t ns;
    pid_t tid;
    pthread_barrier_t barrier;
};

static void *run_worker(void *argument)
{
    struct worker *worker = argument;

    worker->tid = gettid();
    work(worker->ns);
    sched_yield(); /* the kernel counts what ran so far */
    pthread_barrier_wait(&worker->barrier);
    pthread_barrier_wait(&worker->barrier); /* it may end */
    return NULL;
}

static pthread_t start_worker(struct worker *worker, uint64_t ns)
{
    pthread_t thread;

    worker->ns = ns;
    pthread_barrier_init(&worker->barrier, NULL, 2);
    if (pthread_create(&thread, NULL, run_worker, worker))
        abort();
    pthread_barrier_wait(&worker->barrier);
    return thread;
}

static void end_worker(struct worker *worker, pthread_t thread)
{
    char path[64];

    pthread_barrier_wait(&worker->barrier);
    pthread_join(thread, NULL);
    snprintf(path, sizeof(path), "/proc/self/task/%d", (int)worker->tid);
    while (access(path, F_OK) == 0) /* the kernel wakes the joiner a little earlier */
        sched_yield();
}

/* Let the kernel give this id to the next thread of this pid namespace. */
static void give_next(pid_t tid)
{
    FILE *file = fopen("/proc/sys/kernel/ns_last_pid", "w");

    if (!file || fprintf(file, "%d", (int)tid - 1) < 0 || fclose(file))
        abort();
}

/* Start a worker with the tid of a thread that has ended. The kernel frees a tid some time after
 * the thread is gone from /proc; on a busy machine this takes some 100 ms. */
static pthread_t start_with_tid(struct worker *worker, uint64_t ns, pid_t tid)
{
    enum { ATTEMPTS = 1000, PAUSE_US = 2000 };

    for (int attempt = 0;; attempt++) {
        pthread_t thread;

        give_next(tid);
        thread = start_worker(worker, ns);
        if (worker->tid == tid || attempt == ATTEMPTS)
            return thread;
        end_worker(worker, thread);
        usleep(PAUSE_US);
    }
}

/* Return the fault in the times of two threads with one tid; the first ran for 30 ms; NULL if
 * nothing is. `between`: look also while neither thread runs. */
static const char *reuse(bool between)
{
    static struct worker first, second;
    struct profile *profile = profile_new();
    struct thread_watch *watch = thread_watch_new(getpid(), 0, profile);
    struct thread_times times = {0};
    uint64_t most = 0;
    size_t count = 0;
    pthread_t thread = start_worker(&first, 30 * MS);

    thread_watch_look(watch, false);
    end_worker(&first, thread);
    if (between)
        thread_watch_look(watch, false);
    /* With a look between, the second thread may even have run longer. */
    thread = start_with_tid(&second, between ? 60 * MS : 1 * MS, first.tid);
    thread_watch_look(watch, false);
    thread_watch_look(watch, false);
    thread_watch_get(watch, &times);
    for (size_t i = 0; i < times.count; i++) {
        if (profile_get_thread(profile, times.list[i].thread)->tid != (uint32_t)first.tid)
            continue;
        count++;
        most = times.list[i].cpu_ns > most ? times.list[i].cpu_ns : most;
    }
    end_worker(&second, thread);
    if (second.tid != first.tid)
        return "the tid was not used again";
    if (count != 1) /* the first thread was seen once only */
        return "the second thread is not one of its own";
    return most < LAG ? NULL : "time of before the first look counts, or the counters wrapped";
}

/* Print what is wrong and end with code 1, or end with 0. */
static void try_reuse(bool between)
{
    const char *problem;

    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("proc", "/proc", "proc", 0, NULL))
        abort();
    problem = reuse(between);
    if (problem)
        dprintf(STDERR_FILENO, "%s\n", problem);
    _exit(problem ? 1 : 0);
}

/* In a pid namespace no other process takes the id. Its first process is a child of a process of
 * its own, because unshare() changes the children of a process for good. */
static void in_own_namespace(bool between)
{
    int status;
    pid_t child = geteuid() ? -1 : fork();

    if (child < 0) {
        skip();
        return;
    }
    if (child == 0) {
        if (unshare(CLONE_NEWPID))
            abort();
        child = fork();
        if (child == 0)
            try_reuse(between);
        waitpid(child, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static void test_reused_tid_has_times_of_its_own(void **state)
{
    (void)state;
    in_own_namespace(false);
}

static void test_tid_reused_after_a_look_has_times_of_its_own(void **state)
{
    (void)state;
    in_own_namespace(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_continue_in_another_profile),
        cmocka_unit_test(test_times_of_a_process_that_rests_go_on),
        cmocka_unit_test(test_reused_tid_has_times_of_its_own),
        cmocka_unit_test(test_tid_reused_after_a_look_has_times_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
