// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdio.h>

#include "output/rows.h"
#include "output/text/call_graph.h"
#include "output/weight.h"

/* How sure the costs of functions with all callees are, by function. */
struct call_rows {
    struct rows functions;
    const struct row_whole *whole;
    struct row_cover cover;
};

/* Write a report for people, like those of gprof and `perf report --stdio`: the cost of each
 * function, its own and with all callees, and its callers and callees. Costs are in the unit of
 * `weight`; the heading names `event`. Entries below 0.5 % are left out and counted. Write nothing
 * if the graph has no functions. With `rows`, which may be NULL, costs have their numbers of
 * samples, those of functions their intervals, and functions that may be there by chance are left
 * out. */
void call_report_write(FILE *file, const struct call_graph *graph, const struct weight *weight,
                       const char *event, const struct call_rows *rows);
