// SPDX-License-Identifier: Apache-2.0
/* A target that has not run since the last look counts as at rest. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/target.h"

static volatile sig_atomic_t works;

static void work(int number)
{
    (void)number;
    works = 1;
}

/* A process that waits, and runs for a moment at each SIGUSR1. */
static pid_t start(void)
{
    pid_t pid = fork();

    if (pid)
        return pid;
    signal(SIGUSR1, work);
    for (;;) {
        pause();
        for (volatile int i = 0; works && i < 3000000; i++)
            ;
    }
}

/* Longer than activity that was read is used again, and than a tick of the kernel. */
static void wait_a_little(void)
{
    usleep(60000);
}

static struct vm vm;
static struct target target = {.vm = &vm};

static int set_up(void **state)
{
    (void)state;
    target = (struct target){.vm = &vm};
    vm.pid = start();
    wait_a_little();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kill(vm.pid, SIGKILL);
    waitpid(vm.pid, NULL, 0);
    return 0;
}

static void test_process_that_waits_has_rested(void **state)
{
    (void)state;
    assert_false(target_has_rested(&target, READER_WALL)); /* nothing to compare with */
    assert_true(target_has_rested(&target, READER_WALL));
    wait_a_little();
    assert_true(target_has_rested(&target, READER_WALL));
}

static void test_each_reader_sees_a_run(void **state)
{
    (void)state;
    target_has_rested(&target, READER_WALL);
    target_has_rested(&target, READER_METER);
    kill(vm.pid, SIGUSR1);
    wait_a_little();
    assert_false(target_has_rested(&target, READER_WALL));
    assert_true(target_has_rested(&target, READER_WALL));
    assert_false(target_has_rested(&target, READER_METER));
}

static void test_sample_shows_a_run(void **state)
{
    (void)state;
    target_has_rested(&target, READER_WALL);
    target_has_rested(&target, READER_METER);
    target_note_sample(&target);
    assert_false(target_has_rested(&target, READER_WALL));
    assert_true(target_has_rested(&target, READER_WALL));
    assert_false(target_has_rested(&target, READER_METER));
}

static void test_process_that_has_ended_has_not_rested(void **state)
{
    (void)state;
    target_has_rested(&target, READER_WALL);
    kill(vm.pid, SIGKILL);
    waitpid(vm.pid, NULL, 0);
    wait_a_little();
    assert_false(target_has_rested(&target, READER_WALL));
}

/* A target is at rest from the look that finds it so until its next sample, its next run that a
 * look sees, or its end. The look uses the reading of another reader. */
static void test_rest_lasts_until_a_sample_or_a_run(void **state)
{
    (void)state;
    target_note_rest(&target);
    assert_false(target_is_at_rest(&target)); /* nothing to compare with */
    target_note_rest(&target);
    assert_true(target_is_at_rest(&target));
    target_note_sample(&target);
    assert_false(target_is_at_rest(&target));
    target_note_rest(&target);
    assert_false(target_is_at_rest(&target));
    target_note_rest(&target);
    assert_true(target_is_at_rest(&target));
    kill(vm.pid, SIGUSR1);
    wait_a_little();
    target_has_rested(&target, READER_WALL);
    target_note_rest(&target);
    assert_false(target_is_at_rest(&target));
    target_note_rest(&target);
    target.ended = true;
    assert_false(target_is_at_rest(&target));
}

/* CPU time adds up until it is enough, and counts from there on. */
static void test_short_runs_add_up(void **state)
{
    static const uint64_t LITTLE = 1, MUCH = 30000000;
    int runs = 0;

    (void)state;
    target_has_hardly_run(&target, READER_THREADS, LITTLE); /* it has just started */
    assert_true(target_has_hardly_run(&target, READER_THREADS, LITTLE));
    do {
        kill(vm.pid, SIGUSR1);
        wait_a_little();
        runs++;
    } while (runs < 100 && target_has_hardly_run(&target, READER_THREADS, MUCH));
    assert_in_range(runs, 2, 99);
    assert_true(target_has_hardly_run(&target, READER_THREADS, LITTLE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_process_that_waits_has_rested, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_each_reader_sees_a_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sample_shows_a_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_process_that_has_ended_has_not_rested, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_rest_lasts_until_a_sample_or_a_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_short_runs_add_up, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
