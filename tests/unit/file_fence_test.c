// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fence.h"
#include "util/alloc.h"

static char folder[] = "/tmp/beamflame-fence-XXXXXX";

static char *path_of(const char *name)
{
    return xasprintf("%s/%s", folder, name);
}

static void make_file(const char *name)
{
    char *path = path_of(name);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);

    assert_true(fd >= 0);
    close(fd);
    free(path);
}

static int set_up(void **state)
{
    char *in = NULL, *out = NULL;

    (void)state;
    if (!mkdtemp(folder))
        return -1;
    in = path_of("in");
    out = path_of("out");
    assert_int_equal(mkdir(in, 0700) + mkdir(out, 0700), 0);
    make_file("in/input");
    make_file("in/secret");
    make_file("out/old");
    free(in);
    free(out);
    return 0;
}

static int tear_down(void **state)
{
    char *command = xasprintf("rm -r %s", folder);

    (void)state;
    assert_int_equal(system(command), 0);
    free(command);
    return 0;
}

/* The error of opening a file: 0 if it can be opened. */
static int try_open(const char *name, int flags)
{
    char *path = path_of(name);
    int fd = open(path, flags | O_CLOEXEC, 0600), error = fd < 0 ? errno : 0;

    if (fd >= 0)
        close(fd);
    free(path);
    return error;
}

/* In a child: put up a fence with one input and one output, and tell what it permits: a bit for
 * each try that went as it should. */
static int tries_in_fence(void)
{
    struct file_fence *fence = file_fence_new();
    char *input = path_of("in/input"), *output = path_of("out/new");
    int kept, all = 0;

    file_fence_read(fence, input);
    file_fence_write(fence, output);
    kept = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (file_fence_close(fence))
        return -1;
    all |= (try_open("in/input", O_RDONLY) == 0) << 0;
    all |= (try_open("in/input", O_WRONLY) == EACCES) << 1;
    all |= (try_open("in/secret", O_RDONLY) == EACCES) << 2;
    all |= (try_open("in/planted", O_WRONLY | O_CREAT) == EACCES) << 3;
    all |= (try_open("out/new", O_WRONLY | O_CREAT) == 0) << 4;
    all |= (try_open("out/old", O_WRONLY | O_TRUNC) == 0) << 5;
    all |= (open("/etc/shadow", O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES) << 6;
    all |= (read(kept, &(char){0}, 1) == 1) << 7;
    free(input);
    free(output);
    file_fence_free(fence);
    return all;
}

/* In a child: the output is a link into another folder, and files beside it are written. A bit for
 * each try that went as it should. */
static int tries_beside_link(void)
{
    struct file_fence *fence = file_fence_new();
    char *link = path_of("out/link");
    int all = 0;

    file_fence_write_beside(fence, link);
    free(link);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (file_fence_close(fence))
        return -1;
    all |= (try_open("out/link.cpu", O_WRONLY | O_CREAT) == 0) << 0;
    all |= (try_open("out/link", O_WRONLY) == EACCES) << 1;
    all |= (try_open("in/secret", O_WRONLY) == EACCES) << 2;
    file_fence_free(fence);
    return all;
}

static void test_files_beside_a_link_can_be_written(void **state)
{
    struct file_fence *fence = file_fence_new();
    char *link = path_of("out/link");
    int status;
    pid_t child;

    (void)state;
    if (!fence) {
        free(link);
        skip();
    }
    file_fence_free(fence);
    assert_int_equal(symlink("../in/secret", link), 0);
    free(link);
    child = fork();
    if (child == 0)
        _exit(tries_beside_link());
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0x7);
}

static void test_only_inputs_and_folders_of_outputs_can_be_opened(void **state)
{
    struct file_fence *fence = file_fence_new();
    int status;
    pid_t child;

    (void)state;
    if (!fence)
        skip();
    file_fence_free(fence);
    child = fork();
    if (child == 0)
        _exit(tries_in_fence());
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0xff);
}

/* A kernel without Landlock has no fence; nothing else changes. */
static void test_no_fence_can_be_used_like_one(void **state)
{
    (void)state;
    file_fence_read(NULL, "/etc/passwd");
    file_fence_write(NULL, "/tmp/x");
    file_fence_write_beside(NULL, "/tmp/x");
    file_fence_write_in(NULL, "/tmp");
    assert_int_equal(file_fence_close(NULL), -1);
    file_fence_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_inputs_and_folders_of_outputs_can_be_opened),
        cmocka_unit_test(test_files_beside_a_link_can_be_written),
        cmocka_unit_test(test_no_fence_can_be_used_like_one),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
