// SPDX-License-Identifier: Apache-2.0
/* Prints the results of `beamflame calls`. */
#pragma once

#include <stddef.h>

#include "calls/call_watch.h"

/* Print a table. `top` is the number of callers and of processes that are listed of a function. */
void calls_print_table(const struct call_report *report, const struct call_facts *facts,
                       size_t top);

/* Print one JSON object, with all callers and processes. */
void calls_print_json(const struct call_report *report, const struct call_facts *facts);
