// SPDX-License-Identifier: Apache-2.0
/*
 * When breakpoints are enabled, so that hits cost the VM no more than a budget, and what the calls
 * in these windows stand for (budget/budget.h, budget/windows.h). As long as hits cost less, all
 * calls are counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/vm.h"
#include "capture/call_counter.h"

struct call_windows;

/* `budget` is the share of the VM's CPU time that hits may cost; 1: no limit. The counter is open,
 * and its breakpoints are set. `vm` and `counter` are borrowed. */
struct call_windows *call_windows_new(struct vm *vm, struct call_counter *counter, double budget,
                                      uint64_t now);
void call_windows_free(struct call_windows *windows);

/* Open or close the counter if it is time. Return the time of the next call at the latest. */
uint64_t call_windows_step(struct call_windows *windows, uint64_t now);

/* Close the counter. No step after that. */
void call_windows_end(struct call_windows *windows, uint64_t now);

/* ---- after end() ---- */

struct call_estimate {
    double calls;
    double half; /* of the 95 % interval; 0: counted exactly, NAN: unknown */
};

/* True if some calls were not counted. */
bool call_windows_scale(const struct call_windows *windows);
struct call_estimate call_windows_estimate(const struct call_windows *windows, uint32_t function);

/* The number of windows, and the share of time that they cover. */
uint64_t call_windows_count(const struct call_windows *windows);
double call_windows_covered(const struct call_windows *windows);
