// SPDX-License-Identifier: Apache-2.0
/*
 * When breakpoints are enabled, so that hits cost the VM no more than a budget, and what the calls
 * in these windows stand for (budget/budget.h, budget/windows.h). As long as hits cost less, all
 * calls are counted.
 *
 * More functions than there are breakpoints are counted in turn, in groups. Windows of time are
 * divided among the groups, each round in random order. So a call stands for as many more as there
 * are groups.
 *
 *   new ──> step... ──> end ──> { scale, estimate, count, covered } ──> free
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/vm.h"
#include "capture/call_counter.h"
#include "util/error.h"

struct call_windows;

struct call_windows_options {
    struct vm *vm;                /* borrowed */
    struct call_counter *counter; /* borrowed; open, with the breakpoints of group 0 */
    bool splits;                  /* it splits times: so has its probes attached while open */
    double budget;                /* share of the VM's CPU time that hits may cost; 1: no limit */
    uint32_t functions;
    uint32_t group_size; /* functions at once: group 0 has the first ones */
    /* Set the breakpoints of a group in place of those of the one before. The counter is closed. */
    int (*arm)(void *context, uint32_t group, struct error *error);
    /* The counter was closed at `now`. */
    void (*closed)(void *context, uint64_t now);
    void *context;
};

struct call_windows *call_windows_new(const struct call_windows_options *options, uint64_t now);
void call_windows_free(struct call_windows *windows);

/* Open or close the counter if it is time. `*until` is set to the time of the next call at the
 * latest. Fails as `arm` does. Times are not split in a window whose probes can't be attached. */
int call_windows_step(struct call_windows *windows, uint64_t now, uint64_t *until,
                      struct error *error);

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

/* The length of the longest window, ns; 0: all calls were counted. */
double call_windows_longest(const struct call_windows *windows);
