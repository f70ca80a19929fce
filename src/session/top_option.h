// SPDX-License-Identifier: Apache-2.0
/* The option N[:METRIC[:SECONDS]]: the N processes with the largest metric, or with its largest
 * growth. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "profile/metrics.h"
#include "util/error.h"

/* For help texts and messages. */
#define STRUCT_METRICS                                                                             \
    "reductions, msgq, mbuf, heap, stack, young, old, bin_vheap, bin_old_vheap or minor_gcs"
#define TOP_METRICS STRUCT_METRICS ", or with + before it its growth (+msgq)"

struct top_option {
    size_t count; /* 0: not given */
    enum metric metric;
    bool by_growth; /* rank by growth of the metric */
    double seconds; /* time of growth, or until processes are chosen again; 0: not given */
};

/* Parse `text`, which is modified. Without a metric, it is the growth of reductions. Return 0, or
 * -1 with ERROR_USAGE. */
int top_option_parse(char *text, struct top_option *top, struct error *error);
