// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "calls/call_report.h"

/* One caller can have several return addresses of one line, and addresses in versions of code. */
static void test_rows_with_equal_names_are_one_row(void **state)
{
    struct counted_row list[] = {
        {{"b:f/1", "b.erl", 3}, 5}, {{"a:f/1", "a.erl", 1}, 7}, {{"b:f/1", "b.erl", 3}, 6},
        {{"b:f/1", "b.erl", 4}, 1}, {{"a:f/1", "a.erl", 1}, 1},
    };
    struct counted_rows rows = {.of = list, .count = 5};

    (void)state;
    call_report_merge(&rows);
    assert_int_equal(rows.count, 3);
    assert_string_equal(rows.of[0].who.name, "b:f/1");
    assert_int_equal(rows.of[0].who.line, 3);
    assert_int_equal(rows.of[0].calls, 11);
    assert_string_equal(rows.of[1].who.name, "a:f/1");
    assert_int_equal(rows.of[1].calls, 8);
    assert_int_equal(rows.of[2].calls, 1);
}

static void test_no_rows_stay_none(void **state)
{
    struct counted_rows rows = {0};

    (void)state;
    call_report_merge(&rows);
    assert_int_equal(rows.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_with_equal_names_are_one_row),
        cmocka_unit_test(test_no_rows_stay_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
