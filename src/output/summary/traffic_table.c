// SPDX-License-Identifier: Apache-2.0
#include "output/summary/summary_internal.h"

#include <stdlib.h>
#include <string.h>

#include "output/rows.h"
#include "output/weight.h"
#include "profile/events.h"
#include "util/alloc.h"

void traffic_table_init(struct traffic_table *table, const struct output_source *source,
                        event_id event)
{
    const struct profile *profile = source->profile;

    *table = (struct traffic_table){
        .has_peers =
            event_has_peers(profile_text(profile, profile_get_event(profile, event)->name)),
        .value = weight_of_traffic(source, event).value,
    };
    table->whole.has_parts = event_is_sched(profile, event);
    traffic_init(&table->traffic, profile, event, view_groups_by(source->view, GROUP_PID));
}

void traffic_table_free(struct traffic_table *table)
{
    traffic_free(&table->traffic);
    row_interval_free_whole(&table->whole);
    row_cells_free(&table->cells);
}

/* A message without a known receiver is a part of the whole, and of no row. A wake-up without a
 * known waker is not shown at all. */
void traffic_table_add(struct traffic_table *table, const struct sample *sample)
{
    struct row_part part;
    uint32_t edge;

    if (!table->has_peers)
        return;
    edge = traffic_add(&table->traffic, sample);
    if (!edge && !table->traffic.is_msg)
        return;
    part = row_interval_add_whole(&table->whole, sample, table->value);
    if (edge && part.value)
        row_cells_add(&table->cells, edge, &part);
}

/* ---- rows ---- */

struct traffic_listing {
    FILE *file;
    const struct traffic_table *table;
    struct row_whole whole;
    struct row_cover cover;
    enum unit unit;
    const char *sorted_by; /* "delay"; NULL for the count */
    double seconds;
    size_t rows_most;
    const uint32_t *row_of; /* by preliminary edge */
    struct rows rows;
};

static void add_cell(void *context, uint32_t id, const struct row_part *part)
{
    struct traffic_listing *listing = context;

    rows_add(&listing->rows, listing->row_of[id], &listing->whole, part);
}

/* The interval follows the value by which rows are sorted. The count has a column in any case. */
static void write_heading(const struct traffic_listing *listing, const char *title)
{
    const char *by = listing->sorted_by;

    fprintf(listing->file, by ? "\n%s, by %s\n" : "\n%s\n", title, by);
    fprintf(listing->file, "  %12s  %12s", by ? by : "count", "+-");
    if (by)
        fprintf(listing->file, "  %12s", "count");
    fputs(listing->table->traffic.is_msg ? "    per second     words       delay   samples\n"
                                         : "    per second      waited       delay   samples\n",
          listing->file);
}

/* An average time; empty if `count` is 0. */
static struct number_text average_text(uint64_t ns, uint64_t count)
{
    return count ? number_text_amount(ns / count, UNIT_NS) : (struct number_text){{0}};
}

static void write_numbers(const struct traffic_listing *listing, const uint64_t *values,
                          double half, uint64_t samples)
{
    bool is_msg = listing->table->traffic.is_msg;
    uint64_t count = values[is_msg ? MSG_COUNT : SCHED_COUNT];
    const struct estimate_text text =
        number_text_estimate(values[listing->table->value], half, listing->unit);

    if (listing->sorted_by)
        fprintf(listing->file, "  %12s  %12s  %12s", text.amount.text, text.half.text,
                number_text(count).text);
    else
        fprintf(listing->file, "  %12s  %12s", number_text(count).text, text.half.text);
    fprintf(listing->file, "  %12s", number_text_rate(count, listing->seconds).text);
    if (is_msg)
        fprintf(listing->file, "  %8.1f  %10s",
                count ? (double)values[MSG_WORDS] / (double)count : 0,
                average_text(values[MSG_DELAY], values[MSG_RECEIVED]).text);
    else
        fprintf(listing->file, "  %10s  %10s",
                average_text(values[SCHED_WAIT] - values[SCHED_DELAY], count).text,
                average_text(values[SCHED_DELAY], count).text);
    fprintf(listing->file, "  %8s  ", number_text(samples).text);
}

/* Write the rest: all edges that are not in a row. */
static void write_rest(const struct traffic_listing *listing, const struct rows_rest *rest,
                       uint64_t *values, const char *what)
{
    struct buffer text = {0};

    if (!rest->value)
        return;
    values[listing->table->value] = rest->value;
    rows_rest_text(rest, what, &text);
    write_numbers(listing, values, 0, rest->samples);
    fprintf(listing->file, "%.*s\n", (int)text.size, text.data);
    buffer_free(&text);
}

/* Write a table whose rows have the edges with this id in `row_of_edge`, by edge id. */
static void write_rows(struct traffic_listing *listing, const struct traffic_edge *edges,
                       size_t count, const uint32_t *row_of_edge, bool by_receiver)
{
    struct row top[SUMMARY_ROWS];
    struct rows_rest rest;
    size_t shown;
    uint64_t others[EVENT_VALUES] = {0};

    row_cells_each(&listing->table->cells, add_cell, listing);
    shown =
        rows_top(&listing->rows, &listing->whole, &listing->cover, top, listing->rows_most, &rest);
    for (size_t i = 0; i < shown; i++) {
        const struct traffic_edge *first = NULL;
        uint64_t values[EVENT_VALUES] = {0};

        for (size_t e = 0; e < count; e++) {
            if (row_of_edge[edges[e].id] != top[i].id)
                continue;
            first = first ? first : &edges[e];
            traffic_add_values(values, edges[e].values);
        }
        write_numbers(listing, values, top[i].half, top[i].samples);
        if (first && !by_receiver)
            fprintf(listing->file, "%s -> ", first->from);
        fprintf(listing->file, "%s\n", first ? first->to : "");
    }
    for (size_t e = 0; e < count; e++) {
        size_t i = 0;

        while (i < shown && top[i].id != row_of_edge[edges[e].id])
            i++;
        if (i == shown)
            traffic_add_values(others, edges[e].values);
    }
    write_rest(listing, &rest, others, by_receiver ? "receiver" : "pair");
    rows_free(&listing->rows);
}

static int compare_receivers(const void *a, const void *b)
{
    const struct traffic_edge *x = a, *y = b;
    int order = strcmp(x->to, y->to);

    return order ? order : (x->id > y->id) - (x->id < y->id);
}

/* Write a row for each receiver. `edge_of` has the edge of each preliminary one. */
static void write_receivers(struct traffic_listing *listing, struct traffic_edge *edges,
                            size_t count, const uint32_t *edge_of)
{
    uint32_t last = 0, preliminary = listing->table->traffic.edges.count;
    uint32_t *receiver_of, *row_of = xcalloc(preliminary + 1, sizeof(*row_of));

    for (size_t e = 0; e < count; e++)
        last = edges[e].id > last ? edges[e].id : last;
    receiver_of = xcalloc(last + 1, sizeof(*receiver_of));
    qsort(edges, count, sizeof(*edges), compare_receivers);
    for (size_t e = 0; e < count; e++)
        receiver_of[edges[e].id] = e && !strcmp(edges[e].to, edges[e - 1].to)
                                       ? receiver_of[edges[e - 1].id]
                                       : (uint32_t)e + 1;
    for (uint32_t i = 1; i <= preliminary; i++)
        row_of[i] = edge_of[i] <= last ? receiver_of[edge_of[i]] : 0;
    listing->row_of = row_of;
    write_heading(listing, "messages by receiver");
    write_rows(listing, edges, count, receiver_of, true);
    free(receiver_of);
    free(row_of);
}

/* Write a row for each edge. `edge_of` has the edge of each preliminary one. */
static void write_edges(struct traffic_listing *listing, const struct traffic_edge *edges,
                        size_t count, const uint32_t *edge_of)
{
    uint32_t preliminary = listing->table->traffic.edges.count;
    uint32_t *same = xcalloc(preliminary + 1, sizeof(*same));

    for (uint32_t i = 0; i <= preliminary; i++)
        same[i] = i;
    listing->row_of = edge_of;
    write_heading(listing, listing->table->traffic.is_msg ? "messages by sender and receiver"
                                                          : "who woke whom");
    write_rows(listing, edges, count, same, false);
    free(same);
}

void traffic_table_write(FILE *file, struct traffic_table *table,
                         const struct output_source *source, event_id event,
                         const struct summary_extent *extent, double seconds, bool is_part)
{
    struct traffic_listing listing = {
        .file = file,
        .table = table,
        .whole = row_cells_whole(&table->cells, &table->whole),
        .unit = profile_get_event(source->profile, event)->values[table->value].unit,
        .seconds = seconds,
        .rows_most = extent->rows,
    };
    const struct weight weight = weight_of_traffic(source, event);
    uint32_t *ids;
    size_t count;
    struct traffic_edge *edges =
        traffic_edges(&table->traffic, TRAFFIC_AS_NAMED, table->value, &ids, &count);

    listing.cover = rows_cover(source, event, table->value, &listing.whole, is_part);
    if (table->value != (table->traffic.is_msg ? (uint32_t)MSG_COUNT : (uint32_t)SCHED_COUNT))
        listing.sorted_by = weight.name;
    if (count && (extent->is_full || !table->traffic.is_msg))
        write_edges(&listing, edges, count, ids);
    if (count && table->traffic.is_msg)
        write_receivers(&listing, edges, count, ids);
    row_interval_free_whole(&listing.whole);
    free(edges);
    free(ids);
}
