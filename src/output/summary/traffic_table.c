// SPDX-License-Identifier: Apache-2.0
#include "output/summary/traffic_table.h"

#include <stdlib.h>

#include "output/number_text.h"
#include "profile/events.h"

enum { EDGES_MAX = 10 };

/* An average time; empty if `count` is 0. */
static struct number_text average_text(uint64_t ns, uint64_t count)
{
    return count ? amount_text(ns / count, UNIT_NS) : (struct number_text){{0}};
}

static void write_messages(FILE *file, const struct traffic_edge *edge, double seconds)
{
    const uint64_t *values = edge->values, count = values[MSG_COUNT];

    fprintf(file, "  %12s  %12s  %8.1f  %10s  %s -> %s\n", number_text(count).text,
            rate_text(count, seconds).text, count ? (double)values[MSG_WORDS] / (double)count : 0,
            average_text(values[MSG_DELAY], values[MSG_RECEIVED]).text, edge->from, edge->to);
}

static void write_wakes(FILE *file, const struct traffic_edge *edge, double seconds)
{
    const uint64_t *values = edge->values, count = values[SCHED_COUNT];

    fprintf(file, "  %12s  %12s  %10s  %10s  %s -> %s\n", number_text(count).text,
            rate_text(count, seconds).text,
            average_text(values[SCHED_WAIT] - values[SCHED_DELAY], count).text,
            average_text(values[SCHED_DELAY], count).text, edge->from, edge->to);
}

void traffic_table_write(FILE *file, struct traffic *traffic, uint32_t value, double seconds)
{
    size_t count;
    struct traffic_edge *edges = traffic_edges(traffic, TRAFFIC_AS_NAMED, value, &count);

    if (count)
        fputs(traffic->is_msg ? "\nmessages by sender and receiver\n"
                                "         count    per second     words       delay\n"
                              : "\nwho woke whom\n"
                                "         count    per second      waited       delay\n",
              file);
    for (size_t i = 0; i < count && i < EDGES_MAX; i++)
        (traffic->is_msg ? write_messages : write_wakes)(file, &edges[i], seconds);
    free(edges);
}
