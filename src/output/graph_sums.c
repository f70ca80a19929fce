// SPDX-License-Identifier: Apache-2.0
#include "output/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

/* The nodes at both ends of each edge, by the edge's id: an index plus 1, or 0 if not shown. */
struct edge_ends {
    uint32_t from, to;
};

struct graph_adding {
    struct graph_sums *sums;
    const uint32_t *ids;
    const struct edge_ends *ends;
};

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void make_nodes(struct graph_sums *sums, const struct traffic_edge *edges, size_t shown)
{
    size_t count = 0;

    sums->nodes = xcalloc(2 * shown + 1, sizeof(*sums->nodes));
    for (size_t i = 0; i < shown; i++) {
        sums->nodes[2 * i] = edges[i].from;
        sums->nodes[2 * i + 1] = edges[i].to;
    }
    qsort((void *)sums->nodes, 2 * shown, sizeof(*sums->nodes), compare_texts);
    for (size_t i = 0; i < 2 * shown; i++)
        if (!count || strcmp(sums->nodes[count - 1], sums->nodes[i]) != 0)
            sums->nodes[count++] = sums->nodes[i];
    sums->node_count = count;
}

static uint32_t find_node(const struct graph_sums *sums, const char *text)
{
    const char **found = bsearch((const void *)&text, (const void *)sums->nodes, sums->node_count,
                                 sizeof(*sums->nodes), compare_texts);

    return found ? (uint32_t)(found - sums->nodes) + 1 : 0;
}

static void add_cell(void *context, uint32_t id, const struct row_part *part)
{
    struct graph_adding *adding = context;
    struct graph_sums *sums = adding->sums;
    uint32_t edge = adding->ids[id];

    rows_add(&sums->edges, edge, &sums->whole, part);
    rows_add(&sums->sent, adding->ends[edge].from, &sums->whole, part);
    rows_add(&sums->received, adding->ends[edge].to, &sums->whole, part);
}

void graph_sums_make(struct graph_sums *sums, const struct graph_parts *parts,
                     const struct traffic_edge *edges, size_t count, size_t shown)
{
    struct edge_ends *ends;
    uint32_t last = 0;

    *sums = (struct graph_sums){.whole = row_cells_whole(parts->cells, parts->whole)};
    make_nodes(sums, edges, shown);
    for (size_t i = 0; i < count; i++)
        last = edges[i].id > last ? edges[i].id : last;
    ends = xcalloc(last + 1, sizeof(*ends));
    for (size_t i = 0; i < count; i++)
        ends[edges[i].id] =
            (struct edge_ends){find_node(sums, edges[i].from), find_node(sums, edges[i].to)};
    row_cells_each(parts->cells, add_cell, &(struct graph_adding){sums, parts->ids, ends});
    free(ends);
}

void graph_sums_free(struct graph_sums *sums)
{
    row_interval_free_whole(&sums->whole);
    rows_free(&sums->edges);
    rows_free(&sums->sent);
    rows_free(&sums->received);
    free((void *)sums->nodes);
}

struct row graph_sums_row(const struct graph_sums *sums, const struct rows *rows, uint32_t id)
{
    struct row row = {.id = id};
    const struct row_sum *sum = id < rows->size ? &rows->of[id] : NULL;

    if (!sum)
        return row;
    row.value = sum->value;
    row.samples = sum->samples;
    row.half = sums->cover.is_known ? row_interval_half(sum, &sums->whole, &sums->cover) : 0;
    return row;
}
