// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the comments of perf-script text: "# KEY : VALUE" before the samples, and after them the
 * counters that beamflame writes (output/perf.c).
 */
#pragma once

#include "input/import.h"
#include "profile/metrics.h"

struct perf_header {
    bool own;           /* beamflame wrote the file */
    struct span weight; /* what event lines count, a text of the profile; empty: samples */
    enum unit unit;     /* of `weight` */
};

/* Read a line that begins with '#'. Unknown comments are ignored. */
void perf_header_take(struct perf_header *header, struct span line, struct import *import);
