// SPDX-License-Identifier: Apache-2.0
/* How sure the edges and nodes of a graph of traffic are (profile/row_interval.h): by one value,
 * the number of samples and the interval of each edge, and of all that a node sends and receives.
 */
#pragma once

#include "output/number_text.h"
#include "output/row_cells.h"
#include "output/rows.h"
#include "output/traffic.h"

struct graph_sums {
    struct row_whole whole;
    struct row_cover cover;
    const char **nodes; /* sorted */
    size_t node_count;
    struct rows edges;          /* by id */
    struct rows sent, received; /* by index in `nodes`, plus 1 */
};

/* What was added of one graph: the cells are by preliminary edge, as `ids` (traffic_edges()). */
struct graph_parts {
    const struct row_whole *whole;
    const struct row_cells *cells;
    const uint32_t *ids;
};

/* The nodes are those of the first `shown` of all `count` edges. The caller sets the cover. */
void graph_sums_make(struct graph_sums *sums, const struct graph_parts *parts,
                     const struct traffic_edge *edges, size_t count, size_t shown);
void graph_sums_free(struct graph_sums *sums);

/* A row by its id. Its half is 0 if it is exact, or of a recording without totals. */
struct row graph_sums_row(const struct graph_sums *sums, const struct rows *rows, uint32_t id);
