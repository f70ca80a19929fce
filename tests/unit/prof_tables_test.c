// SPDX-License-Identifier: Apache-2.0
/* Rows of functions become tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "output/prof/prof_tables.h"

static const struct prof_sum one_sum = {.is_known = true, .half = 5};

static struct prof_row row(uint32_t process, const char *function, uint64_t own, uint64_t calls)
{
    return (struct prof_row){.process = process,
                             .function = function,
                             .own = own,
                             .samples = 100 - own / 10,
                             .own_half = 1,
                             .has_calls = calls > 0,
                             .calls = calls,
                             .is_selected = true};
}

static struct prof_tables make(const struct prof_options *options, const struct prof_row *rows,
                               size_t count, const struct prof_sum *sums)
{
    struct prof_tables tables = {.options = options, .event = 1};
    struct prof_row *copy = calloc(count, sizeof(*copy));

    memcpy(copy, rows, count * sizeof(*copy));
    prof_tables_make(&tables, copy, count, sums);
    return tables;
}

/* Return the first letters of the functions of a table. */
static const char *functions_of(const struct prof_table *table)
{
    static char text[16];

    for (size_t i = 0; i < table->count; i++)
        text[i] = table->rows[i].function[0];
    text[table->count] = '\0';
    return text;
}

static void assert_sorted(enum prof_sort sort, const char *expected)
{
    const struct prof_row rows[] = {row(0, "b", 300, 0), row(0, "a", 100, 2), row(0, "d", 500, 50),
                                    row(0, "c", 200, 1)};
    struct prof_tables tables =
        make(&(struct prof_options){.sort = sort}, rows, sizeof(rows) / sizeof(*rows), &one_sum);

    assert_int_equal(tables.count, 1);
    assert_string_equal(functions_of(&tables.list[0]), expected);
    prof_tables_free(&tables);
}

/* Numbers descend, names ascend; functions whose calls are unknown come last. */
static void test_each_column_sorts(void **state)
{
    (void)state;
    assert_sorted(PROF_SORT_OWN, "dbca");
    assert_sorted(PROF_SORT_PERCENT, "dbca");
    assert_sorted(PROF_SORT_CALLS, "dacb");
    assert_sorted(PROF_SORT_PER_CALL, "cadb");
    assert_sorted(PROF_SORT_SAMPLES, "acbd");
    assert_sorted(PROF_SORT_FUNCTION, "abcd");
}

/* Rows of chance, rows below the top and rows that no pattern selects are the rest. Only the first
 * two are counted as functions. */
static void test_rows_and_rest_add_up_to_the_table(void **state)
{
    struct prof_row rows[] = {row(0, "a", 400, 0), row(0, "b", 300, 0), row(0, "c", 200, 0),
                              row(0, "d", 100, 0)};
    struct prof_tables tables;

    (void)state;
    rows[0].is_chance = true;
    rows[1].is_selected = false;
    tables = make(&(struct prof_options){.top = 1}, rows, 4, &one_sum);
    assert_string_equal(functions_of(&tables.list[0]), "c");
    assert_int_equal(tables.list[0].own, 1000);
    assert_int_equal(tables.list[0].rest.value, 800);
    assert_int_equal(tables.list[0].rest.rows, 2);
    assert_int_equal(tables.list[0].samples,
                     tables.list[0].rest.samples + tables.list[0].rows[0].samples);
    assert_false(tables.list[0].rest.is_all);
    assert_true(tables.list[0].own_half == 5);
    prof_tables_free(&tables);
}

/* Sums of several events have no interval together: such a process is folded if all its rows are
 * there by chance. */
static void test_costly_processes_come_first_and_chance_last(void **state)
{
    const struct prof_sum sums[] = {{.process = 0, .is_known = true},
                                    {.process = 11, .is_known = true},
                                    {.process = 12, .is_known = true, .is_chance = true},
                                    {.process = 13}};
    struct prof_row rows[] = {row(2, "a", 900, 0), row(1, "a", 100, 0), row(0, "a", 300, 0),
                              row(1, "b", 50, 0), row(3, "a", 80, 0)};
    struct prof_tables tables;

    (void)state;
    rows[0].is_chance = rows[4].is_chance = true;
    tables = make(&(struct prof_options){.per = PROF_PER_PROCESS}, rows, 5, sums);
    assert_int_equal(tables.count, 3);
    assert_int_equal(tables.own, 1430);
    assert_int_equal(tables.list[0].process, 0);
    assert_int_equal(tables.list[1].process, 11);
    assert_string_equal(functions_of(&tables.list[1]), "ab");
    assert_int_equal(tables.list[2].folded, 2);
    assert_int_equal(tables.list[2].own, 980);
    prof_tables_free(&tables);
}

/* A process with many samples in many functions is not there by chance. */
static void test_process_without_sure_functions_is_kept(void **state)
{
    const struct prof_sum sums[] = {{.process = 0}, {.process = 11, .is_known = true}};
    struct prof_row rows[] = {row(1, "a", 100, 0), row(1, "b", 50, 0)};
    struct prof_tables tables;

    (void)state;
    rows[0].is_chance = rows[1].is_chance = true;
    tables = make(&(struct prof_options){.per = PROF_PER_PROCESS}, rows, 2, sums);
    assert_int_equal(tables.count, 1);
    assert_int_equal(tables.list[0].folded, 0);
    assert_int_equal(tables.list[0].rest.rows, 2);
    assert_true(tables.list[0].rest.is_all);
    prof_tables_free(&tables);
}

/* A column is exact if all of its rows are, also those that are not shown. */
static void test_columns_are_exact_if_all_rows_are(void **state)
{
    struct prof_row rows[] = {row(0, "a", 100, 3), row(0, "b", 50, 0)};
    struct prof_tables tables;

    (void)state;
    rows[0].own_half = 0;
    rows[1].is_chance = true;
    tables = make(&(struct prof_options){.per = PROF_PER_TOTAL}, rows, 2, &one_sum);
    assert_false(tables.own_exact);
    assert_true(tables.has_calls && tables.calls_exact);
    prof_tables_free(&tables);
}

/* Of 1000 +- 30 in 200 +- 8 calls: the relative errors 3 % and 4 % add up to 5 %. */
static void test_time_per_call_has_the_errors_of_both(void **state)
{
    const struct prof_row known = {
        .own = 1000, .own_half = 30, .has_calls = true, .calls = 200, .calls_half = 8};
    const struct prof_row never = {.own = 1000, .has_calls = true};

    (void)state;
    assert_true(prof_row_per_call(&known) == 5);
    assert_true(fabs(prof_row_per_call_half(&known) - 0.25) < 1e-9);
    assert_true(isnan(prof_row_per_call(&never)));
    assert_true(isnan(prof_row_per_call_half(&never)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_column_sorts),
        cmocka_unit_test(test_rows_and_rest_add_up_to_the_table),
        cmocka_unit_test(test_costly_processes_come_first_and_chance_last),
        cmocka_unit_test(test_process_without_sure_functions_is_kept),
        cmocka_unit_test(test_columns_are_exact_if_all_rows_are),
        cmocka_unit_test(test_time_per_call_has_the_errors_of_both),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
