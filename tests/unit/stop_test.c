// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native/memory.h"
#include "test_folder.h"
#include "util/effort.h"
#include "util/file_place.h"
#include "util/stop.h"

/* Run in a child that handles SIGINT and SIGTERM; return its wait status. */
static int in_child(void (*run)(void))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        signal(SIGINT, stop_request);
        signal(SIGTERM, stop_request);
        alarm(10);
        run();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static bool can_read(void)
{
    uint64_t word = 7, copy = 0, spanned = 0;
    struct memory *memory = memory_of_process(getpid());
    struct memory_span span = {(uintptr_t)&word, &spanned, sizeof(spanned), false};
    bool read = memory_read_u64(memory, (uintptr_t)&word, &copy) && copy == 7;

    memory_read_spans(memory, &span, 1);
    memory_free(memory);
    return read && span.is_read;
}

/* Walk a ring for ever, as a target can make one. */
static void walk(void)
{
    struct memory *memory = memory_of_process(getpid());
    void *ring = &ring;
    uint64_t at = (uintptr_t)&ring;

    while (memory_read_u64(memory, at, &at))
        ;
    memory_free(memory);
}

static void stop_while_walking(void)
{
    if (!can_read())
        _exit(1);
    raise(SIGINT);
    if (!stop_requested || !can_read())
        _exit(2); /* what is nearly done may be finished */
    walk();
    if (can_read())
        _exit(3);
}

static void test_reading_ends_after_a_signal(void **state)
{
    (void)state;
    assert_int_equal(in_child(stop_while_walking), 0);
}

static void two_signals(void)
{
    raise(SIGINT);
    raise(SIGTERM);
}

static void test_second_signal_kills(void **state)
{
    int status = in_child(two_signals);

    (void)state;
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
}

static char *create(const struct file_place *place)
{
    char *temporary;
    int fd = file_place_create(place, O_WRONLY, &temporary);

    if (fd < 0)
        _exit(1);
    close(fd);
    return temporary;
}

/* Publish one of three files and remove another, so that one is left. */
static void two_signals_while_writing(void)
{
    struct file_place place;
    struct error error;
    char *first, *second;

    if (file_place_open("x", &place, &error))
        _exit(1);
    first = create(&place);
    second = create(&place);
    create(&place);
    if (file_place_publish(&place, first))
        _exit(1);
    file_place_remove(&place, second);
    two_signals();
}

static void test_second_signal_removes_temporary_files(void **state)
{
    int status = in_child(two_signals_while_writing);

    (void)state;
    assert_true(WIFSIGNALED(status));
    assert_true(exists("x"));
    assert_int_equal(unlink("x"), 0);
    assert_int_equal(rmdir(folder), 0); /* it is empty */
    assert_int_equal(folder_enter(), 0);
}

static int enter(void **state)
{
    (void)state;
    return folder_enter();
}

static void endless_search(void)
{
    struct effort effort = effort_of(UINT32_MAX, 1000000);

    raise(SIGTERM);
    while (effort_step(&effort))
        usleep(100);
}

static void test_search_ends_after_a_signal(void **state)
{
    (void)state;
    assert_int_equal(in_child(endless_search), 0);
}

static void test_search_ends_after_its_steps(void **state)
{
    struct effort effort = effort_of(100, 10000);
    int steps = 0;

    (void)state;
    while (effort_step(&effort))
        steps++;
    assert_int_equal(steps, 100);
    assert_false(effort_step(&effort));
}

static void test_search_ends_after_its_time(void **state)
{
    struct effort effort = effort_of(UINT32_MAX, 50);

    (void)state;
    alarm(10);
    while (effort_step(&effort))
        ;
    alarm(0);
    assert_false(effort_step(&effort));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading_ends_after_a_signal),
        cmocka_unit_test(test_second_signal_kills),
        cmocka_unit_test_setup_teardown(test_second_signal_removes_temporary_files, enter,
                                        leave_folder),
        cmocka_unit_test(test_search_ends_after_a_signal),
        cmocka_unit_test(test_search_ends_after_its_steps),
        cmocka_unit_test(test_search_ends_after_its_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
