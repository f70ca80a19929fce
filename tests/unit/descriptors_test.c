// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/descriptors.h"

static struct rlimit limit(void)
{
    struct rlimit now;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
    return now;
}

static void test_limit_is_raised_to_the_hard_limit(void **state)
{
    struct rlimit low = limit();
    const rlim_t most = low.rlim_max;

    (void)state;
    assert_true(most > 50);
    low.rlim_cur = 50;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    descriptors_raise();
    assert_true(limit().rlim_cur == most);
    assert_true(limit().rlim_max == most);
    descriptors_raise(); /* there is nothing to raise */
    assert_true(limit().rlim_cur == most);
}

static void test_error_names_the_limit_that_was_reached(void **state)
{
    struct rlimit low = limit();
    const struct rlimit before = low;
    struct error error = {0};

    (void)state;
    low.rlim_cur = 64;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    assert_int_equal(descriptors_check(&error), 0);
    assert_true(descriptors_ran_out(EMFILE, &error));
    assert_int_equal(strncmp(error.text, "64 open files ", 14), 0);
    assert_non_null(strstr(error.text, "ulimit -Hn"));
    assert_true(descriptors_ran_out(ENFILE, &error));
    assert_non_null(strstr(error.text, "fs.file-max"));
    assert_int_equal(error.code, ERROR_FAILED);
    setrlimit(RLIMIT_NOFILE, &before);
}

/* Where only a few more can be opened, the check fails, and leaves none open. */
static void test_lack_is_seen_before_the_last_descriptor(void **state)
{
    struct rlimit low = limit();
    const struct rlimit before = low;
    struct error error = {0};
    int next = dup(0);

    (void)state;
    close(next);
    low.rlim_cur = (rlim_t)next + 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    assert_int_equal(descriptors_check(&error), -1);
    assert_non_null(strstr(error.text, "open files are too few"));
    assert_int_equal(dup(0), next);
    close(next);
    setrlimit(RLIMIT_NOFILE, &before);
}

static void test_other_errors_are_left_as_they_are(void **state)
{
    static const int codes[] = {0, EACCES, ENOMEM, ENOSPC};
    struct error error = {.text = "before"};

    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        assert_false(descriptors_ran_out(codes[i], &error));
    assert_string_equal(error.text, "before");
}

/* In a child: close all three, or all but standard output, and tell how the descriptors then are: a
 * bit for each that is as it should be. */
static int fill_closed(bool output_too)
{
    int all = 0;

    close(STDIN_FILENO);
    close(STDERR_FILENO);
    if (output_too)
        close(STDOUT_FILENO);
    descriptors_fill_standard();
    all |= (fcntl(STDIN_FILENO, F_GETFD) == 0) << 0;
    all |= (fcntl(STDOUT_FILENO, F_GETFD) == 0) << 1;
    all |= (fcntl(STDERR_FILENO, F_GETFD) == 0) << 2;
    all |= (read(STDIN_FILENO, &(char){0}, 1) < 0 && errno == EBADF) << 3;
    all |= ((write(STDOUT_FILENO, "", 0) == 0) != output_too) << 4;
    all |= (write(STDERR_FILENO, "", 1) < 0 && errno == EBADF) << 5;
    all |= (open("/dev/null", O_RDONLY | O_CLOEXEC) > STDERR_FILENO) << 6;
    return all;
}

/* A file that is opened later gets none of the printed text, and open descriptors stay. */
static void test_closed_standard_descriptors_are_filled(void **state)
{
    (void)state;
    for (int output_too = 0; output_too < 2; output_too++) {
        pid_t child = fork();
        int status;

        if (child == 0)
            _exit(fill_closed(output_too));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0x7f);
    }
}

enum { OPENED = 20 };

struct kept {
    int fds[3];
    size_t count;
};

/* Of the descriptors below OPENED, exactly `kept` are open. */
static bool only_these_are_open(const struct kept *kept)
{
    for (int fd = 0; fd < OPENED; fd++) {
        bool is_kept = false;

        for (size_t i = 0; i < kept->count; i++)
            is_kept |= kept->fds[i] == fd;
        if ((fcntl(fd, F_GETFD) >= 0) != is_kept)
            return false;
    }
    return true;
}

static int keep(void *argument)
{
    struct kept *kept = argument;

    return descriptors_keep_only(kept->fds, kept->count) == 0 && only_these_are_open(kept);
}

/* A process that shares our table gets one of its own, and ours stays as it is. */
static void test_only_the_kept_are_open_and_ours_stay(void **state)
{
    static struct kept all[] = {{{0}, 0},    {{0}, 1},       {{7}, 1},       {{OPENED - 1}, 1},
                                {{2, 0}, 2}, {{9, 8, 7}, 3}, {{1, 12, 4}, 3}};
    static char stack[65536] __attribute__((aligned(16)));
    bool was_open[OPENED];

    (void)state;
    for (int fd = 0; fd < OPENED; fd++) {
        was_open[fd] = fcntl(fd, F_GETFD) >= 0;
        if (!was_open[fd])
            assert_int_equal(dup2(STDERR_FILENO, fd), fd);
    }
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        pid_t child = clone(keep, stack + sizeof(stack), CLONE_FILES | SIGCHLD, &all[i]);
        int status;

        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 1);
        for (int fd = 0; fd < OPENED; fd++)
            assert_true(fcntl(fd, F_GETFD) >= 0);
    }
    for (int fd = 0; fd < OPENED; fd++)
        if (!was_open[fd])
            close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit_is_raised_to_the_hard_limit),
        cmocka_unit_test(test_error_names_the_limit_that_was_reached),
        cmocka_unit_test(test_lack_is_seen_before_the_last_descriptor),
        cmocka_unit_test(test_closed_standard_descriptors_are_filled),
        cmocka_unit_test(test_other_errors_are_left_as_they_are),
        cmocka_unit_test(test_only_the_kept_are_open_and_ours_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
