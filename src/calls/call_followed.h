// SPDX-License-Identifier: Apache-2.0
/*
 * The calls whose return is awaited, to measure how long they take.
 *
 * A breakpoint on the address that a call returns to ends its time. Entries of functions tell these
 * addresses: their callers. A CPU has few breakpoints, so if there are more callers, some of them
 * are followed in turn, chosen at random. A call that has not returned when its turn, the window or
 * the recording ends counts as an open one (call_times.h).
 *
 *   new ──> { function, look, close, code_changed }... ──> collect ──> { times, unreturned } ──>
 * free
 */
#pragma once

#include <stdint.h>

#include "beam/code.h"
#include "beam/vm.h"
#include "calls/call_times.h"
#include "capture/call_counter.h"
#include "util/error.h"

struct call_followed;

/* All are borrowed; the counter measures times. NULL with error. */
struct call_followed *call_followed_new(struct vm *vm, struct code *code,
                                        struct call_counter *counter, struct error *error);
void call_followed_free(struct call_followed *followed);

/* Follow no calls, and use no breakpoint: another function follows, or return addresses may have
 * other code. Calls that have not returned are open ones. */
void call_followed_stop(struct call_followed *followed, uint64_t now);

/* After stop(), or first: follow calls of this function, with at most so many breakpoints. */
void call_followed_function(struct call_followed *followed, uint32_t function, size_t breakpoints);

/* Look for new callers, if it is time, and follow them. `code` is the number of the code map
 * (wire_call_key). Return the time of the next look, ns. Fails if no breakpoint can be set. */
int call_followed_look(struct call_followed *followed, uint32_t code, uint64_t now,
                       uint64_t *ret_next, struct error *error);

/* The counter was closed: calls that have not returned are open ones. */
void call_followed_close(struct call_followed *followed, uint64_t now);

/* ---- after the last close ---- */

/* Read what the kernel has measured. */
void call_followed_collect(struct call_followed *followed);

/* The times of a function's calls by a caller; NULL if none was followed. Borrowed. */
const struct call_times *call_followed_times(const struct call_followed *followed,
                                             const struct wire_call_key *key);

/* The longest time for which calls of a caller were followed, ns; 0: without a limit. */
uint64_t call_followed_turn(const struct call_followed *followed);

/* Calls that were followed and have no time. */
struct call_unreturned {
    uint64_t passed;  /* an exception has passed them, or a call has replaced them */
    uint64_t ended;   /* their process has ended */
    uint64_t no_room; /* too many others had not returned */
    uint64_t untimed; /* they returned, but there were too many different times */
    uint64_t unsplit; /* they have a time, but what it is made of is not known */
};
struct call_unreturned call_followed_unreturned(const struct call_followed *followed,
                                                uint32_t function);
