// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "output/rows.h"

enum { IDS = 3000, WINDOWS = 400 };

struct table {
    struct row_whole whole;
    struct row_sum all, last; /* of all ids, and of the last one */
    uint64_t cells;
    uint32_t window;
};

static void add(void *context, uint32_t id, const struct row_part *part)
{
    struct table *table = context;

    assert_true(part->window >= table->window);
    table->window = part->window;
    table->cells++;
    row_interval_add(&table->all, &table->whole, part);
    if (id == IDS)
        row_interval_add(&table->last, &table->whole, part);
}

static struct sample sample_of(int window, int id)
{
    return (struct sample){.time = (uint64_t)window * 1000000000,
                           .values = {(uint64_t)(1 + (window * 7 + id) % 5)}};
}

/* Add a sample of each id to each window, and sum the cells up. */
static struct table table_of(int windows, int ids)
{
    struct row_cells cells = {0};
    struct row_whole whole = {0};
    struct table table = {0};

    for (int window = 0; window < windows; window++)
        for (int id = 1; id <= ids; id++) {
            const struct sample sample = sample_of(window, id);
            struct row_part part = row_interval_add_whole(&whole, &sample, 0);

            row_cells_add(&cells, (uint32_t)id, &part);
            row_cells_add(&cells, (uint32_t)id, &(struct row_part){.window = part.window});
        }
    table.whole = row_cells_whole(&cells, &whole);
    row_cells_each(&cells, add, &table);
    assert_int_equal(table.whole.sum.value, whole.sum.value);
    row_cells_free(&cells);
    row_interval_free_whole(&whole);
    return table;
}

static void assert_complete(const struct table *table, uint64_t samples)
{
    const struct event_summary summary = {
        .event = 1, .hits = 1, .span_ns = 100, .covered_ns = 1, .windows = 9};
    const struct row_cover cover = row_interval_cover(&table->whole, &summary, 0, false);

    assert_int_equal(table->all.samples, samples);
    assert_int_equal(table->all.value, table->whole.sum.value);
    /* A row that is the whole is as sure as the total. The total has no error here. */
    assert_true(row_interval_half(&table->all, &table->whole, &cover) <=
                1e-3 * (double)table->all.value);
    assert_true(row_interval_half(&table->last, &table->whole, &cover) > 0);
}

/* One cell for each id and window. */
static void test_cells_have_all_parts(void **state)
{
    struct table table = table_of(10, IDS);

    (void)state;
    assert_int_equal(table.cells, 10 * IDS);
    assert_int_equal(table.whole.count, 10);
    assert_complete(&table, 10 * IDS);
    assert_int_equal(table.last.samples, 10);
    row_interval_free_whole(&table.whole);
}

/* Of 1,200,000 cells, windows are joined until there are few enough; sums stay. */
static void test_windows_are_joined_where_there_are_too_many_cells(void **state)
{
    struct table table = table_of(WINDOWS, IDS);

    (void)state;
    assert_in_range(table.cells, ROW_CELLS_MAX / 4, ROW_CELLS_MAX);
    assert_true(table.whole.count < WINDOWS / 8);
    assert_int_equal(table.cells, table.whole.count * IDS);
    assert_complete(&table, (uint64_t)WINDOWS * IDS);
    assert_int_equal(table.last.samples, WINDOWS);
    row_interval_free_whole(&table.whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_have_all_parts),
        cmocka_unit_test(test_windows_are_joined_where_there_are_too_many_cells),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
