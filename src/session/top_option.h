// SPDX-License-Identifier: Apache-2.0
/* N[:METRIC[:SECONDS]]: the processes with the most of something, or those of which it grows most,
 * as commands take it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "profile/metrics.h"
#include "util/error.h"

/* For the help of options, and messages. */
#define TOP_METRICS                                                                                \
    "reductions, msgq, mbuf, heap, stack, young, old, bin_vheap, bin_old_vheap or minor_gcs, or "  \
    "with + before it what it has grown by (+msgq)"

struct top_option {
    size_t count; /* 0: not asked for */
    enum metric metric;
    bool by_growth; /* of the metric */
    double seconds; /* of growth, or until they are chosen anew; 0: not said */
};

/* Parse `text`, which is written to; who works now, where no metric is given. Else ERROR_USAGE. */
int top_option_parse(char *text, struct top_option *top, struct error *error);
