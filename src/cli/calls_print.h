// SPDX-License-Identifier: Apache-2.0
/* Prints the results of `beamflame calls`. */
#pragma once

#include <stddef.h>

#include "calls/call_watch.h"

/* Print a table. `top` is the number of callers and of processes that are listed of a function. */
void calls_print_table(const struct call_report *report, const struct call_facts *facts,
                       size_t top);

/* Print the `top` slowest calls that are listed. */
void calls_print_slow(const struct call_report *report, size_t top);

/* ---- calls_say.c ---- */

/* Say what is not known of the calls, and what hits have cost. `slow_ns`: as it was requested. */
void calls_say(const struct call_report *report, const struct call_facts *facts, double budget,
               uint64_t slow_ns);

/* Warn of facts that a reader of the table would not expect. */
void calls_warn(const struct call_facts *facts);

/* ---- calls_json.c ---- */

/* Print one JSON object, with all callers and processes. */
void calls_print_json(const struct call_report *report, const struct call_facts *facts);
