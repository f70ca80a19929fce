/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0) */
/*
 * Shared by the program on calls of Erlang functions (bpf/calls.bpf.c) and user space.
 *
 * A hardware breakpoint lies on the entry of each function. User space keeps a site for each entry,
 * and the program counts in maps, which user space reads.
 */
#ifndef BEAMFLAME_WIRE_CALLS_H
#define BEAMFLAME_WIRE_CALLS_H

#include "wire.h"

enum wire_calls_limits {
    WIRE_CALL_AT_ONCE = 4, /* functions that are counted at once: a CPU has as many breakpoints */
    WIRE_CALL_FUNCTIONS = 64,    /* that are counted in turn */
    WIRE_CALL_TRIAL = 64,        /* the number of the function of the trial, which is no target's */
    WIRE_CALL_ALL = 65,          /* its `calls` are all hits */
    WIRE_CALL_COUNTS = 66,       /* functions, the trial, and all */
    WIRE_CALL_SITES = 16,        /* more than there can be breakpoints */
    WIRE_CALL_ENTRIES = 1 << 14, /* of each map with a key of its own for each caller or process */
    WIRE_CALL_MFA_WORDS = 3,
    WIRE_CALL_WEIGHT = 1 << 10, /* the weight of a call that stands for itself */
};

/* The entry of a function, found by its address. The VM has the function's name just before the
 * entry (ErtsCodeInfo.mfa): atoms of module and function, and the arity. If other words are there,
 * the VM has put other code there since. */
struct wire_call_site {
    __u64 mfa[WIRE_CALL_MFA_WORDS];
    __u64 function; /* its number: less than WIRE_CALL_COUNTS */
};

/* Counts of each function, by its number. */
struct wire_call_counts {
    __u64 calls;
    __u64 weight;    /* of the calls, also of those that have no row because the map is full */
    __u64 strangers; /* hits of other code: not calls of the function */
};

/* The values of both maps. Where breakpoints are set in windows, a call stands for several. */
struct wire_call_row {
    __u64 calls;
    __u64 weight; /* of the calls, in parts of WIRE_CALL_WEIGHT */
};

/* The keys of both maps. */
struct wire_call_key {
    __u32 function;
    __u32 code; /* callers: the number of the code map when the call was made; processes: 0 */
    __u64 who;  /* callers: the return address; processes: the pid term; 0: it can't be read */
};

#endif
