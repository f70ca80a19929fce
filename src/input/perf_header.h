// SPDX-License-Identifier: Apache-2.0
/*
 * The comments of perf-script text: "# KEY : VALUE" before the samples, and behind those what
 * beamflame counted (output/perf.c).
 */
#pragma once

#include "input/import.h"
#include "profile/unit.h"

struct perf_header {
    bool own;           /* beamflame wrote the file */
    struct span weight; /* what event lines count, of the profile; empty: samples */
    enum unit unit;     /* of that */
};

/* Take what a line that begins with '#' tells. What is not understood is only a comment. */
void perf_header_take(struct perf_header *header, struct span line, struct import *import);
