// SPDX-License-Identifier: Apache-2.0
/* What the processes of the agent share. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "agent/agent_status.h"

static struct agent_status *new_status(void)
{
    struct error error;
    struct agent_status *status = agent_status_new(&error);

    assert_non_null(status);
    return status;
}

static void test_refusals_are_read_as_they_were_set(void **state)
{
    static const struct refusal_status set[] = {
        {7, REFUSED_UNSUPPORTED, "", "too new"},
        {9, REFUSED_BY_RULE, "shop@web-1", "rule 1 excludes it"}};
    static struct refusal_status read[STATUS_REFUSALS_MAX];
    struct agent_status *status = new_status();
    size_t count = 99;

    (void)state;
    assert_true(agent_status_refusals(status, read, &count));
    assert_int_equal(count, 0);
    agent_status_set_refusals(status, set, 2);
    assert_true(agent_status_refusals(status, read, &count));
    assert_int_equal(count, 2);
    assert_int_equal(status->refused_by[REFUSED_UNSUPPORTED], 1);
    assert_int_equal(status->refused_by[REFUSED_BY_RULE], 1);
    assert_memory_equal(read, set, sizeof(set));
    agent_status_set_refusals(status, &set[1], 1);
    assert_true(agent_status_refusals(status, read, &count));
    assert_int_equal(count, 1);
    assert_int_equal(status->refused_by[REFUSED_UNSUPPORTED], 0);
    assert_int_equal(status->refused_by[REFUSED_BY_RULE], 1);
    assert_int_equal(read[0].pid, 9);
    agent_status_free(status);
}

static void test_all_refusals_are_counted_and_the_first_are_kept(void **state)
{
    static struct refusal_status set[STATUS_REFUSALS_MAX + 5], read[STATUS_REFUSALS_MAX];
    struct agent_status *status = new_status();
    size_t count;

    (void)state;
    agent_status_set_refusals(status, set, STATUS_REFUSALS_MAX + 5);
    assert_true(agent_status_refusals(status, read, &count));
    assert_int_equal(count, STATUS_REFUSALS_MAX);
    assert_int_equal(status->refused, STATUS_REFUSALS_MAX + 5);
    agent_status_free(status);
}

static void test_list_that_is_being_written_is_not_read(void **state)
{
    static struct refusal_status read[STATUS_REFUSALS_MAX];
    struct agent_status *status = new_status();
    size_t count;

    (void)state;
    seqlock_write_begin(&status->refusals.lock);
    assert_false(agent_status_refusals(status, read, &count));
    agent_status_free(status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals_are_read_as_they_were_set),
        cmocka_unit_test(test_all_refusals_are_counted_and_the_first_are_kept),
        cmocka_unit_test(test_list_that_is_being_written_is_not_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
