// SPDX-License-Identifier: Apache-2.0
/*
 * Traffic between processes: edges from sender to receiver, from the samples of an event that have
 * a peer (sample.peer).
 *
 * Event msg sees each message twice. Where it is sent, the peer is the receiver; the sample has the
 * count and the copied words. Where it is received, the peer is the sender; the sample has the
 * delay. With any other event the peer acts on the process: it wakes it, for example.
 *
 * While samples are added, processes are identified by pid, because names come late. The only name
 * of a process that was started with a fun is the function at the root of its stack, and only its
 * own samples have that stack. At the end, processes with the same text are merged.
 */
#pragma once

#include <stdbool.h>

#include "output/number_text.h"
#include "output/rows.h"
#include "profile/profile.h"
#include "profile/string_table.h"
#include "util/intern.h"

struct traffic {
    const struct profile *profile;
    bool by_pid; /* processes with the same name stay separate */
    bool is_msg;
    struct string_table texts;
    struct intern ends, edges;
    struct traffic_name *names; /* of ends, by id - 1 */
    struct traffic_sum *sums;   /* of edges, by id - 1 */
};

void traffic_init(struct traffic *traffic, const struct profile *profile, event_id event,
                  bool by_pid);
void traffic_free(struct traffic *traffic);

/* Add a sample. Return a preliminary id of its edge, or 0 if it has no peer and is ignored. */
uint32_t traffic_add(struct traffic *traffic, const struct sample *sample);

/* Add the values of a sample or an edge to sums, EVENT_VALUES each. */
void traffic_add_values(uint64_t *sums, const uint64_t *values);

struct traffic_edge {
    uint32_t id;
    const char *from, *to; /* valid until the traffic is freed; equal texts are one string */
    uint64_t values[EVENT_VALUES];
};

/* TRAFFIC_BY_KIND merges processes whose names differ only in numbers: {worker,1} and {worker,2}
 * become {worker,*}. */
enum traffic_names { TRAFFIC_AS_NAMED, TRAFFIC_BY_KIND };

/* Return the edges whose value with index `value` is not 0, the greatest first. To be freed. If
 * `ret_ids` is not NULL, *ret_ids has the id of the edge for each preliminary id; to be freed. */
struct traffic_edge *traffic_edges(struct traffic *traffic, enum traffic_names names,
                                   uint32_t value, uint32_t **ret_ids, size_t *ret_count);

/* ---- graph_sums.c ---- */

/* How sure the edges and nodes of a graph of traffic are (profile/row_interval.h). For one
 * value: the number of samples and the interval of each edge, of all edges from a node, and of
 * all edges to it.
 * */

struct graph_sums {
    struct row_whole whole;
    struct row_cover cover;
    const char **nodes; /* sorted */
    size_t node_count;
    struct rows edges;          /* by id */
    struct rows sent, received; /* by index in `nodes`, plus 1 */
};

/* The samples of one graph, in cells by preliminary edge, like `ids` (traffic_edges()). */
struct graph_parts {
    const struct row_whole *whole;
    const struct row_cells *cells;
    const uint32_t *ids;
};

/* The nodes are the ends of the first `shown` of all `count` edges. The caller sets the cover. */
void graph_sums_make(struct graph_sums *sums, const struct graph_parts *parts,
                     const struct traffic_edge *edges, size_t count, size_t shown);
void graph_sums_free(struct graph_sums *sums);

/* A row by its id. Its half is 0 if it is exact, or of a recording without totals. */
struct row graph_sums_row(const struct graph_sums *sums, const struct rows *rows, uint32_t id);
