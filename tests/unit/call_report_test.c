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
        {{"b:f/1", "b.erl", 3}, 50, 5}, {{"a:f/1", "a.erl", 1}, 70, 7},
        {{"b:f/1", "b.erl", 3}, 60, 6}, {{"b:f/1", "b.erl", 4}, 10, 1},
        {{"a:f/1", "a.erl", 1}, 10, 1},
    };
    struct counted_rows rows = {.of = list, .count = 5};

    (void)state;
    call_report_merge(&rows);
    assert_int_equal(rows.count, 3);
    assert_string_equal(rows.of[0].who.name, "b:f/1");
    assert_int_equal(rows.of[0].who.line, 3);
    assert_int_equal(rows.of[0].weight, 110);
    assert_int_equal(rows.of[0].seen, 11);
    assert_string_equal(rows.of[1].who.name, "a:f/1");
    assert_int_equal(rows.of[1].seen, 8);
    assert_int_equal(rows.of[2].seen, 1);
}

/* Each row gets its share of the calls, and calls without a row are the rest. */
static void test_rows_and_the_rest_add_up(void **state)
{
    struct counted_row list[] = {
        {{"a:f/1", "", 0}, 3 * WIRE_CALL_WEIGHT, 3},
        {{"b:f/1", "", 0}, 2000, 1},
        {{"c:f/1", "", 0}, 1000, 1},
        {{"d:f/1", "", 0}, 1, 1},
    };
    struct counted_rows rows = {.of = list, .count = 4};
    uint64_t sum = 0;

    (void)state;
    call_report_divide(&rows, 1000003, 3 * WIRE_CALL_WEIGHT + 2000 + 1000 + 1 + 500);
    for (size_t i = 0; i < rows.count; i++)
        sum += rows.of[i].calls;
    assert_int_equal(sum + rows.lost, 1000003);
    assert_in_range(rows.of[1].calls, 303999, 305000);
    assert_in_range(rows.lost, 75000, 77000);
}

/* Where each call stands for itself, rows have the calls that were counted. */
static void test_counted_calls_stay_exact(void **state)
{
    struct counted_row list[] = {
        {{"a:f/1", "", 0}, UINT64_C(98765432109) * WIRE_CALL_WEIGHT, 0},
        {{"b:f/1", "", 0}, UINT64_C(12345678) * WIRE_CALL_WEIGHT, 0},
        {{"c:f/1", "", 0}, WIRE_CALL_WEIGHT, 0},
    };
    struct counted_rows rows = {.of = list, .count = 3};
    const uint64_t all = UINT64_C(98765432109) + 12345678 + 1;

    (void)state;
    call_report_divide(&rows, all, all * WIRE_CALL_WEIGHT);
    assert_int_equal(rows.of[0].calls, UINT64_C(98765432109));
    assert_int_equal(rows.of[1].calls, 12345678);
    assert_int_equal(rows.of[2].calls, 1);
    assert_int_equal(rows.lost, 0);
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
        cmocka_unit_test(test_rows_and_the_rest_add_up),
        cmocka_unit_test(test_counted_calls_stay_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
