// SPDX-License-Identifier: Apache-2.0
/*
 * Who sends to whom: what the samples of an event say that know another process (sample.peer), as
 * edges from sender to receiver.
 *
 * Of event msg each message is seen twice: where it is sent (the peer receives) it counts, with the
 * words copied, and where it is received (the peer has sent it) its delay. Of any other event the
 * peer acts on the process, as what wakes it does.
 *
 * Processes are told apart by pid as long as samples come, since names come late: one that was
 * started with a fun has none but the function at the bottom of its stack, which only samples of
 * its own tell. In the end those with the same text are one.
 */
#pragma once

#include <stdbool.h>

#include "profile/profile.h"
#include "profile/string_table.h"
#include "util/intern.h"

struct traffic {
    const struct profile *profile;
    bool by_pid; /* processes of one name are kept apart */
    bool is_msg;
    struct string_table texts;
    struct intern ends, edges;
    struct traffic_name *names; /* of ends, by id - 1 */
    struct traffic_sum *sums;   /* of edges, by id - 1 */
};

void traffic_init(struct traffic *traffic, const struct profile *profile, event_id event,
                  bool by_pid);
void traffic_free(struct traffic *traffic);

/* One without a peer says nothing, and is ignored. */
void traffic_add(struct traffic *traffic, const struct sample *sample);

struct traffic_edge {
    const char *from, *to; /* valid until the traffic is freed; equal texts are one string */
    uint64_t values[EVENT_VALUES];
};

/* Whether processes whose names differ in numbers only, as {worker,1} and {worker,2}, are one:
 * {worker,*}. */
enum traffic_names { TRAFFIC_AS_NAMED, TRAFFIC_BY_KIND };

/* The edges for which this value is not 0, the greatest first: to be freed. */
struct traffic_edge *traffic_edges(struct traffic *traffic, enum traffic_names names,
                                   uint32_t value, size_t *ret_count);
