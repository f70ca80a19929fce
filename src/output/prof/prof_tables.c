// SPDX-License-Identifier: Apache-2.0
#include "output/prof/prof_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/number.h"

double prof_row_per_call(const struct prof_row *row)
{
    return row->has_calls && row->calls ? (double)row->own / (double)row->calls : NAN;
}

/* Relative errors of a quotient add up as squares. */
double prof_row_per_call_half(const struct prof_row *row)
{
    double own = row->own ? row->own_half / (double)row->own : 0;

    return prof_row_per_call(row) * hypot(own, row->calls_half / (double)row->calls);
}

enum unit prof_tables_unit(const struct prof_tables *tables)
{
    if (!tables->event)
        return UNIT_COUNT;
    return tables->options->type == PROF_TIME ? UNIT_NS : UNIT_WORDS;
}

/* ---- order ---- */

static int compare_numbers(double one, double other)
{
    return (one < other) - (one > other);
}

/* What is unknown comes last. */
static double sort_key(const struct prof_row *row, enum prof_sort sort)
{
    double per_call = prof_row_per_call(row);

    switch (sort) {
    case PROF_SORT_CALLS:
        return row->has_calls ? (double)row->calls : -1;
    case PROF_SORT_PER_CALL:
        return isnan(per_call) ? -1 : per_call;
    case PROF_SORT_SAMPLES:
        return (double)row->samples;
    default:
        return (double)row->own;
    }
}

static int compare_rows(const void *a, const void *b, void *sort)
{
    const struct prof_row *one = a, *other = b;
    enum prof_sort by = *(const enum prof_sort *)sort;
    int order = 0;

    if (by != PROF_SORT_FUNCTION)
        order = compare_numbers(sort_key(one, by), sort_key(other, by));
    return order ? order : strcmp(one->function, other->function);
}

static int compare_processes(const void *a, const void *b)
{
    const struct prof_row *one = a, *other = b;

    return (one->process > other->process) - (one->process < other->process);
}

static int compare_tables(const void *a, const void *b)
{
    const struct prof_table *one = a, *other = b;

    if (!one->folded != !other->folded)
        return one->folded ? 1 : -1;
    return (one->own < other->own) - (one->own > other->own);
}

/* ---- tables ---- */

static void add_to_rest(struct prof_table *table, const struct prof_row *row)
{
    table->rest.value = saturating_sum(table->rest.value, row->own);
    table->rest.samples += row->samples;
    table->rest.rows += row->is_selected && row->own;
}

/* Move the rows that the table shows to its front; the others are its rest. */
static void fold_rows(struct prof_table *table, const struct prof_options *options)
{
    enum prof_sort sort = options->sort;
    size_t count = table->count, most = options->top ? options->top : SIZE_MAX;

    table->count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct prof_row row = table->rows[i];

        table->own = saturating_sum(table->own, row.own);
        table->samples += row.samples;
        if (row.is_selected && row.own && !row.is_chance)
            table->rows[table->count++] = row;
        else
            add_to_rest(table, &row);
    }
    qsort_r(table->rows, table->count, sizeof(*table->rows), compare_rows, &sort);
    while (table->count > most)
        add_to_rest(table, &table->rows[--table->count]);
    table->rest.is_all = !table->count;
}

static void fold_table(struct prof_table *others, const struct prof_table *table)
{
    others->folded++;
    others->own = saturating_sum(others->own, table->own);
    others->samples += table->samples;
    others->rest.value = others->own;
    others->rest.samples = others->samples;
}

/* A row that is not shown is a part of the table, too. */
static void note_row(struct prof_tables *tables, const struct prof_row *row)
{
    tables->own_exact = tables->own_exact && (row->own_half == 0 || !row->own);
    tables->has_selected = tables->has_selected || (row->is_selected && row->own);
    tables->has_calls = tables->has_calls || row->has_calls;
    tables->calls_exact = tables->calls_exact && (!row->has_calls || row->calls_half == 0);
}

/* The table of the rows from `first` on that are of one process. */
static struct prof_table table_at(const struct prof_tables *tables, struct prof_row *rows,
                                  size_t count, const struct prof_sum *sums)
{
    const struct prof_sum *sum = &sums[rows[0].process];
    struct prof_table table = {.process = sum->process,
                               .is_process = tables->options->per == PROF_PER_PROCESS,
                               .own_half = sum->is_known ? sum->half : NAN,
                               .rows = rows};

    while (table.count < count && rows[table.count].process == rows[0].process)
        table.count++;
    return table;
}

void prof_tables_make(struct prof_tables *tables, struct prof_row *rows, size_t count,
                      const struct prof_sum *sums)
{
    struct prof_table others = {.own_half = NAN};

    tables->rows = rows;
    tables->own_exact = tables->calls_exact = true;
    tables->list = xcalloc(count + 1, sizeof(*tables->list));
    for (size_t i = 0; i < count; i++)
        note_row(tables, &rows[i]);
    qsort(rows, count, sizeof(*rows), compare_processes);
    for (size_t next, first = 0; first < count; first = next) {
        struct prof_table table = table_at(tables, rows + first, count - first, sums);
        const struct prof_sum *sum = &sums[rows[first].process];

        next = first + table.count;
        fold_rows(&table, tables->options);
        tables->own = saturating_sum(tables->own, table.own);
        tables->samples += table.samples;
        if (table.is_process && !table.count && (!sum->is_known || sum->is_chance))
            fold_table(&others, &table);
        else
            tables->list[tables->count++] = table;
    }
    if (others.folded)
        tables->list[tables->count++] = others;
    qsort(tables->list, tables->count, sizeof(*tables->list), compare_tables);
}

void prof_tables_free(struct prof_tables *tables)
{
    free(tables->list);
    free(tables->rows);
}

/* ---- processes ---- */

static const struct process_entry *entry_of(const struct prof_tables *tables,
                                            const struct prof_table *table)
{
    static const struct process_entry none;

    return table->process ? profile_get_process(tables->source->profile, table->process) : &none;
}

const char *prof_tables_pid(const struct prof_tables *tables, const struct prof_table *table)
{
    return profile_text(tables->source->profile, entry_of(tables, table)->pid);
}

const char *prof_tables_name(const struct prof_tables *tables, const struct prof_table *table)
{
    const struct process_entry *entry = entry_of(tables, table);
    string_id name = process_entry_name(entry);

    return profile_text(tables->source->profile, name ? name : entry->initial_call);
}

const char *prof_tables_node(const struct prof_tables *tables, const struct prof_table *table)
{
    const struct profile *profile = tables->source->profile;
    target_id target = entry_of(tables, table)->target;

    return target ? profile_text(profile, profile_get_target(profile, target)->node) : "";
}
