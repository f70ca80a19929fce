// SPDX-License-Identifier: Apache-2.0
/* Work in a process with nothing, and the files that its parent opens for it. Each case runs in a
 * process of its own, which gives up rights. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/confined.h"
#include "os/placed_file.h"
#include "test_folder.h"
#include "util/alloc.h"

enum { ROOM = 64 << 20 };

static bool permits(void *context, const char *path)
{
    (void)context;
    return !strcmp(path, "out");
}

static int open_input(void *context, const char *path, struct error *error)
{
    (void)context;
    return strcmp(path, "in") ? error_set(error, ERROR_FAILED, "no input %s", path)
                              : open(path, O_RDONLY | O_CLOEXEC);
}

static int open_temporary(void *context, struct error *error)
{
    (void)context;
    (void)error;
    return open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/* The result of a case, for the process that checks it. */
struct found {
    int failed, code;
    bool complete;
    char text[sizeof((struct error){0}.text)];
};

/* Run the work in a process with nothing. */
static struct found found_by(int (*run)(void *))
{
    struct found found = {0};
    int ends[2];
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        const struct confined_work work = {.run = run,
                                           .files = {NULL, permits, open_input, open_temporary},
                                           .memory = ROOM,
                                           .log_file = -1};
        struct confined_end end = {0};
        struct error error = {0};

        found.failed = confined_run(&work, &end, &error);
        found.code = end.code;
        found.complete = end.complete;
        snprintf(found.text, sizeof(found.text), "%s", error.text);
        _exit(write(ends[1], &found, sizeof(found)) != sizeof(found));
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &found, sizeof(found)), sizeof(found));
    close(ends[0]);
    waitpid(child, NULL, 0);
    return found;
}

/* ---- files ---- */

static int copy_by_parent(void *context)
{
    struct placed_file out;
    struct error error;
    char text[8] = "";
    int in = file_broker_input("in", &error), temporary = file_broker_temporary(&error), fd;

    (void)context;
    fd = placed_file_open(&out, "out", &error);
    if (in < 0 || temporary < 0 || fd < 0)
        return 1;
    if (read(in, text, 3) != 3 || write(temporary, text, 3) != 3 || write(fd, text, 3) != 3)
        return 2;
    if (exists("out") || placed_file_publish(&out, "out", &error))
        return 3;
    file_broker_complete();
    return 42;
}

static int ask_for_others(void *context)
{
    struct placed_file out;
    struct error error;

    (void)context;
    if (file_broker_input("secret", &error) >= 0 || strcmp(error.text, "no input secret") != 0)
        return 1;
    if (placed_file_open(&out, "secret", &error) >= 0 || placed_file_is_in_place("/dev/null"))
        return 2;
    if (file_broker_publish(0, &error) == 0 || file_broker_publish(7, &error) == 0)
        return 3;
    return placed_file_open(&out, "out", &error) < 0 ? 4 : 0; /* never published */
}

static void test_parent_opens_what_it_permits_and_no_more(void **state)
{
    struct found found;
    int fd = open("in", O_CREAT | O_WRONLY, 0600);
    char text[4] = "";

    (void)state;
    assert_int_equal(write(fd, "abc", 3), 3);
    close(fd);
    found = found_by(copy_by_parent);
    assert_int_equal(found.failed, 0);
    assert_int_equal(found.code, 42);
    assert_true(found.complete);
    fd = open("out", O_RDONLY);
    assert_int_equal(read(fd, text, 3), 3);
    assert_string_equal(text, "abc");
    close(fd);
    unlink("out");
    found = found_by(ask_for_others);
    assert_int_equal(found.failed, 0);
    assert_int_equal(found.code, 0);
    assert_false(found.complete);
    assert_false(exists("out"));
}

/* ---- rights ---- */

static int try_all(void *context)
{
    (void)context;
    if (open("in", O_RDONLY) >= 0 || open("new", O_CREAT | O_WRONLY, 0600) >= 0)
        return 1;
    if (unlink("in") == 0 || rename("in", "new") == 0 || mkdir("new", 0700) == 0)
        return 2;
    if (fork() >= 0 || kill(getppid(), 0) == 0 || prctl(PR_GET_DUMPABLE) >= 0)
        return 3;
    return 0;
}

static void test_process_opens_starts_and_signals_nothing(void **state)
{
    struct found found;

    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* there is no filter then */
#endif
    close(open("in", O_CREAT | O_WRONLY, 0600));
    found = found_by(try_all);
    assert_int_equal(found.failed, 0);
    assert_int_equal(found.code, 0);
}

/* ---- its end ---- */

static int take_too_much(void *context)
{
    (void)context;
    for (size_t taken = 0; taken < 2 * (size_t)ROOM; taken += ROOM / 8)
        memset(xmalloc(ROOM / 8), 1, ROOM / 8);
    return 0;
}

static int be_killed(void *context)
{
    (void)context;
    raise(SIGKILL);
    return 0;
}

static int crash(void *context)
{
    (void)context;
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    return 0;
}

static void test_error_says_why_the_process_died(void **state)
{
    struct found found = found_by(be_killed);

    (void)state;
    assert_int_equal(found.failed, -1);
    assert_non_null(strstr(found.text, "signal 9 ended the process that writes the outputs"));
    found = found_by(crash);
    assert_int_equal(found.failed, -1);
    assert_non_null(strstr(found.text, "signal 11 ended the process that writes the outputs"));
#ifdef __SANITIZE_ADDRESS__
    skip(); /* there is no limit then */
#endif
    found = found_by(take_too_much);
    assert_int_equal(found.failed, -1);
    assert_non_null(strstr(found.text, "needs more than 64 MB of memory: give more by "));
}

/* ---- its parent's end ---- */

static int report_and_wait(void *context)
{
    pid_t own = getpid();

    if (write(*(int *)context, &own, sizeof(own)) != sizeof(own))
        return 1;
    return pause();
}

static void test_process_ends_with_its_parent(void **state)
{
    int ends[2];
    pid_t parent, child;
    char byte;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    parent = fork();
    if (parent == 0) {
        struct confined_end end;
        struct error error;

        close(ends[0]);
        /* standard output is among the descriptors that the process keeps */
        dup2(ends[1], STDOUT_FILENO);
        close(ends[1]);
        ends[1] = STDOUT_FILENO;
        confined_run(&(struct confined_work){.run = report_and_wait,
                                             .context = &ends[1],
                                             .files = {NULL, permits, open_input, NULL},
                                             .memory = ROOM,
                                             .log_file = -1},
                     &end, &error);
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &child, sizeof(child)), sizeof(child));
    kill(parent, SIGKILL);
    assert_int_equal(read(ends[0], &byte, 1), 0); /* both are gone */
    close(ends[0]);
    waitpid(parent, NULL, 0);
    waitpid(child, NULL, 0);
}

static int enter(void **state)
{
    (void)state;
    return folder_enter();
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_parent_opens_what_it_permits_and_no_more),
        IN_FOLDER(test_process_opens_starts_and_signals_nothing),
        IN_FOLDER(test_error_says_why_the_process_died),
        IN_FOLDER(test_process_ends_with_its_parent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
