// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdio.h>

#include "output/call_graph.h"
#include "output/weight.h"

/* Write for people what each function costs, itself and with all it calls, who calls it and whom it
 * calls, as gprof and `perf report --stdio` have it; of `event`, by `weight`. What is less than
 * half a percent is left out, and counted. Nothing where there are no stacks. */
void call_report_write(FILE *file, const struct call_graph *graph, const struct weight *weight,
                       const char *event);
