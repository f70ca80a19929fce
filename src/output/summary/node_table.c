// SPDX-License-Identifier: Apache-2.0
#include "output/summary/summary_internal.h"

#include <stdlib.h>

#include "output/number_text.h"
#include "output/summary/summary_text.h"
#include "util/alloc.h"

struct node_table {
    FILE *file;
    const struct output_source *source;
    const struct node_metrics *metrics;
    struct output_range range;           /* as times of readings */
    const struct summary_extent *extent; /* NULL: nothing is written */
};

static struct node_table table_of(FILE *file, const struct output_source *source,
                                  const struct recording_totals *totals,
                                  const struct summary_extent *extent)
{
    const uint64_t start = source->header->start_monotonic;
    const struct output_range range = output_source_range(source, totals);

    return (struct node_table){
        .file = file,
        .source = source,
        .metrics = recording_get_node_metrics(source->recording),
        .range = {start + range.from, start + range.to},
        .extent = extent,
    };
}

static struct node_growth row_of(const struct node_series *series, const struct output_range *range)
{
    const struct node_reading *first = node_metrics_series_at(series, range->from);
    const struct node_reading *last = node_metrics_series_at(series, range->to);
    struct growth_range values = {0};

    for (const struct node_reading *at = first; at <= last; at++)
        growth_range_add(&values, at->value);
    return (struct node_growth){series, values};
}

static uint64_t change_of(const struct node_growth *row)
{
    return row->range.last > row->range.first ? row->range.last - row->range.first
                                              : row->range.first - row->range.last;
}

/* ---- text ---- */

static const char *whole_name(enum node_metric metric)
{
    static const char *const names[NODE_METRICS] = {
        [NODE_RESIDENT] = "RSS",
        [NODE_CARRIERS] = "carriers of all allocators",
        [NODE_BLOCKS] = "blocks of all allocators",
        [NODE_ATOMS] = "atoms",
        [NODE_PROCESSES] = "processes",
        [NODE_PORTS] = "ports",
        [NODE_TABLES] = "ETS tables",
        [NODE_TABLE_BYTES] = "memory of ETS tables",
        [NODE_TABLE_OBJECTS] = "objects in ETS tables",
        [NODE_PORT_QUEUE] = "queues of ports",
    };

    return names[metric];
}

/* "RSS", "blocks of binary_alloc", "table cache, <0.85.0> cart". */
void node_table_name(const struct profile *profile, const struct node_series *series,
                     struct buffer *text)
{
    const char *of = series->key.of ? profile_text(profile, series->key.of) : "?";

    if (!series->key.of && !series->key.id)
        buffer_text(text, whole_name(series->key.metric));
    else if (series->key.metric == NODE_TABLE_BYTES)
        buffer_format(text, "table %s", of);
    else if (series->key.metric == NODE_PORT_QUEUE)
        buffer_format(text, "queue of %s %s", profile_text(profile, series->key.id), of);
    else
        buffer_format(text, "%s of %s", node_metric_name(series->key.metric), of);
    if (!series->owner)
        return;
    buffer_text(text, ", ");
    summary_text_of_process(profile, series->owner, text);
}

static struct number_text value_text(uint64_t value, enum unit unit)
{
    return unit == UNIT_COUNT ? number_text(value) : number_text_amount(value, unit);
}

static void write_row(const struct node_table *table, const struct node_growth *row)
{
    const struct node_series *series = row->series;
    enum unit unit = node_metric_unit(series->key.metric);
    const char *sign = row->range.last > row->range.first   ? "+"
                       : row->range.last < row->range.first ? "-"
                                                            : "";
    struct buffer change = {0}, name = {0};

    buffer_format(&change, "%s%s", sign, value_text(change_of(row), unit).text);
    node_table_name(table->source->profile, series, &name);
    fprintf(table->file, "  %12s  %12s  %12.*s  %12s  %.*s\n",
            value_text(row->range.first, unit).text, value_text(row->range.last, unit).text,
            (int)change.size, change.data, value_text(row->range.highest, unit).text,
            (int)name.size, name.data);
    buffer_free(&change);
    buffer_free(&name);
}

static void write_head(const struct node_table *table, target_id target)
{
    struct buffer text = {0};

    summary_text_of_target(table->source->profile, target, &text);
    fprintf(table->file, "\nmetrics of %.*s\n  %12s  %12s  %12s  %12s\n", (int)text.size, text.data,
            "start", "end", "change", "highest");
    buffer_free(&text);
}

/* ---- rows ---- */

static int by_change(const void *a, const void *b)
{
    const struct node_growth *one = a, *other = b;
    uint64_t own = change_of(one), others = change_of(other);

    return (own < others) - (own > others);
}

/* A part is listed by the bytes that it has in use, if these have changed. */
static bool is_listed(const struct node_growth *row)
{
    enum node_metric metric = row->series->key.metric;

    return metric != NODE_CARRIERS && node_metric_unit(metric) == UNIT_BYTES && change_of(row);
}

static void write_parts(const struct node_table *table, struct node_growth *parts, size_t count)
{
    if (count)
        qsort(parts, count, sizeof(*parts), by_change);
    for (size_t i = 0; i < count && i < table->extent->rows; i++)
        write_row(table, &parts[i]);
    if (count > table->extent->rows)
        fprintf(table->file, "  %58sand %s others that have changed less\n", "",
                number_text(count - table->extent->rows).text);
}

static void write_target(const struct node_table *table, target_id target)
{
    struct node_growth *parts = xcalloc(table->metrics->count, sizeof(*parts));
    size_t count = 0;
    bool any = false;

    for (size_t i = 0; i < table->metrics->count; i++) {
        const struct node_series *series = &table->metrics->of[i];
        struct node_growth row;

        if (series->key.target != target || !series->count)
            continue;
        if (!any)
            write_head(table, target);
        any = true;
        row = row_of(series, &table->range);
        if (!series->key.of && !series->key.id && (table->extent->is_full || change_of(&row)))
            write_row(table, &row);
        else if (is_listed(&row))
            parts[count++] = row;
    }
    write_parts(table, parts, count);
    free(parts);
}

/* ---- growth ---- */

/* How much a growth says. The table or port that grows says more than its allocator, and that says
 * more than the whole VM. */
static double growth_rank(const struct node_growth *growth)
{
    double rise = (double)(growth->range.last - growth->range.first);

    if (growth->series->key.id)
        return 2 * rise;
    return growth->series->key.of ? rise : rise / 1e6;
}

struct node_growth node_table_growth(const struct output_source *source,
                                     const struct recording_totals *totals)
{
    const struct node_table table = table_of(NULL, source, totals, NULL);
    struct node_growth most = {0};

    for (size_t i = 0; i < table.metrics->count; i++) {
        const struct node_series *series = &table.metrics->of[i];
        struct node_growth growth;

        if (!series->count || node_metric_unit(series->key.metric) != UNIT_BYTES ||
            (series->key.of && series->key.metric == NODE_CARRIERS))
            continue;
        growth = row_of(series, &table.range);
        if (growth_range_is_growth_of_memory(&growth.range) &&
            (!most.series || growth_rank(&growth) > growth_rank(&most)))
            most = growth;
    }
    return most;
}

void node_table_write(FILE *file, const struct output_source *source,
                      const struct recording_totals *totals, const struct summary_extent *extent)
{
    const struct node_table table = table_of(file, source, totals, extent);

    if (!table.metrics->readings)
        return;
    for (target_id id = 1; id <= profile_counts(source->profile).targets; id++)
        write_target(&table, id);
}
