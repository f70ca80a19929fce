// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "rotation/segments_internal.h"
#include "util/alloc.h"

static char folder[] = "/tmp/kept_copies_test.XXXXXX";

/* Make a file and add it, in a process of its own, as those that write segments do. */
static void add(struct kept_copies *copies, int number)
{
    char *path = xasprintf("%s/%d", folder, number);
    pid_t pid;
    int status;

    fclose(fopen(path, "w"));
    pid = fork();
    if (pid == 0) {
        kept_copies_add(copies, path);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    free(path);
}

static void test_oldest_files_of_all_processes_are_removed(void **state)
{
    struct kept_copies *copies = kept_copies_new(2);

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 5; i++)
        add(copies, i);
    for (int i = 0; i < 5; i++) {
        char *path = xasprintf("%s/%d", folder, i);

        assert_int_equal(access(path, F_OK) == 0, i >= 3);
        unlink(path);
        free(path);
    }
    assert_int_equal(rmdir(folder), 0);
    kept_copies_free(copies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oldest_files_of_all_processes_are_removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
