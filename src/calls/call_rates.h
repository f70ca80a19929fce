// SPDX-License-Identifier: Apache-2.0
/*
 * Calls over time: of each second or, if there are too many seconds, of more of them.
 *
 *   new ──> { step, functions }... ──> end ──> { count, ends, divide } ──> free
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "capture/call_counter.h"

struct call_rates;

/* `counter` is borrowed; `now`: CLOCK_MONOTONIC, ns. */
struct call_rates *call_rates_new(const struct call_counter *counter, uint32_t functions,
                                  uint64_t now);
void call_rates_free(struct call_rates *rates);

/* There are so many functions from now on, as many as before or more. New ones have had no calls.
 */
void call_rates_functions(struct call_rates *rates, uint32_t functions);

/* End a piece of time, if it is long enough. Call it several times a second. */
void call_rates_step(struct call_rates *rates, uint64_t now);

/* The last piece, which may be shorter, ends now. */
void call_rates_end(struct call_rates *rates, uint64_t now);

/* ---- after end() ---- */

size_t call_rates_count(const struct call_rates *rates);

/* When each piece ended, ns from the start. Borrowed. */
const uint64_t *call_rates_ends(const struct call_rates *rates);

/* Divide `calls` of a function among the pieces by the weight of its calls in each. The caller
 * frees the result. */
uint64_t *call_rates_divide(const struct call_rates *rates, uint32_t function, uint64_t calls);
