// SPDX-License-Identifier: Apache-2.0
/* N[:METRIC[:SECONDS]]: the processes with the most of something, as commands take it. */
#pragma once

#include <argp.h>
#include <stddef.h>

#include "profile/metrics.h"

/* For the help of options, and messages. */
#define TOP_METRICS "reductions, msgq, mbuf, heap, stack, young, old, bin_vheap or minor_gcs"

struct top_option {
    size_t count; /* 0: not asked for */
    enum metric metric;
    double seconds; /* after which they are chosen anew; 0: not said */
};

/* Parse `text`, which is written to. On bad usage it ends the program, as argp does. */
void parse_top_option(struct argp_state *state, char *text, struct top_option *top);
