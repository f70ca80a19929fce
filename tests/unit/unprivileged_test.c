// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/child_memory.h"
#include "agent/unprivileged.h"
#include "util/files.h"
#include "util/memory_limit.h"

static int write_limit(void *context, int out, struct error *error)
{
    uint64_t limit = memory_limit();

    (void)context;
    if (files_write_all(out, &limit, sizeof(limit)))
        return error_set(error, ERROR_FAILED, "it can't write");
    return 0;
}

/* The configuration may give recordings more memory after the process of a service was started. */
static void test_child_reads_recordings_larger_than_its_parent_makes(void **state)
{
    struct error error;
    uint64_t limit = 0;
    int fd;

    (void)state;
    memory_limit_set(MEMORY_LIMIT_LEAST);
    fd = unprivileged_make(write_limit, NULL, NULL, 0, &error);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, &limit, sizeof(limit)), sizeof(limit));
    close(fd);
    assert_true(child_memory() > MEMORY_LIMIT_LEAST);
    assert_true(limit >= child_memory());
    assert_int_equal(memory_limit(), MEMORY_LIMIT_LEAST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_child_reads_recordings_larger_than_its_parent_makes)};

    return cmocka_run_group_tests_name("unprivileged", tests, NULL, NULL);
}
