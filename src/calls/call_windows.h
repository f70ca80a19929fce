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
 * Functions come and go while calls are counted. A function that leaves and comes back is another
 * one, with another number.
 *
 *   new ──> { step, change }... ──> end ──> { scale, estimate, span, count, covered } ──> free
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
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
    uint32_t group_size;          /* functions that are counted at once */
    /* Set breakpoints on these functions, and on no others. Those that are set already stay: if the
     * counter is open, they miss no call. */
    int (*arm)(void *context, const uint32_t *functions, size_t count, struct error *error);
    /* The counter was closed at `now`. */
    void (*closed)(void *context, uint64_t now);
    void *context;
};

/* Count the functions with the numbers 0 to `functions` - 1. The first group is armed. */
struct call_windows *call_windows_new(const struct call_windows_options *options,
                                      uint32_t functions, uint64_t now);
void call_windows_free(struct call_windows *windows);

/* Open or close the counter if it is time. `*until` is set to the time of the next call at the
 * latest. Fails as `arm` does. Times are not split in a window whose probes can't be attached. */
int call_windows_step(struct call_windows *windows, uint64_t now, uint64_t *until,
                      struct error *error);

/* Count these functions from now on, 1 to WIRE_CALL_FUNCTIONS, and no others. A number that was
 * removed can't come back. If one group has all functions, before and after, those that stay miss
 * no call. Return 0; 1 with the error of `arm`, and nothing has changed; or -1 with error if the
 * breakpoints of before can't be set again either. */
int call_windows_change(struct call_windows *windows, const uint32_t *functions, size_t count,
                        struct error *error);

/* The functions that are counted now, borrowed, and the number of groups that take turns. */
const uint32_t *call_windows_functions(const struct call_windows *windows, size_t *ret_count);
uint32_t call_windows_groups(const struct call_windows *windows);

/* Close the counter. No step after that. */
void call_windows_end(struct call_windows *windows, uint64_t now);

/* ---- after end() ---- */

struct call_estimate {
    double calls;
    double half; /* of the 95 % interval; 0: counted exactly, NAN: unknown */
};

/* True if some calls were not counted. Also before end(). */
bool call_windows_scale(const struct call_windows *windows);
/* Of the time in which the function was counted. */
struct call_estimate call_windows_estimate(const struct call_windows *windows, uint32_t function);

/* When a function was counted, or had its turns: ns from the start. */
struct call_span {
    uint64_t from, to; /* both 0: it never was */
};
struct call_span call_windows_span(const struct call_windows *windows, uint32_t function);

/* The number of windows, and the share of time that they cover. */
uint64_t call_windows_count(const struct call_windows *windows);
double call_windows_covered(const struct call_windows *windows);

/* The time that the windows so far cover, ns. Also before end(). */
double call_windows_covered_ns(const struct call_windows *windows);

/* The length of the longest window, ns; 0: all calls were counted. */
double call_windows_longest(const struct call_windows *windows);
