// SPDX-License-Identifier: Apache-2.0
/* What the files of call_counter.h share. */
#pragma once

#include <stdbool.h>

#include "wire_calls.h"

#include "calls.skel.h"
#include "capture/breakpoint.h"
#include "capture/call_counter.h"

/* An instruction with a breakpoint: the entry of a function, or a return address. */
struct armed_entry {
    struct breakpoint breakpoint;
    uint32_t function; /* or WIRE_CALL_RETURN */
};

struct call_split;

struct call_counter {
    const struct vm *vm;
    struct calls_bpf *skeleton;
    int cpus;
    double hit_ns;
    uint64_t trial_hits;
    struct ring_buffer *slow; /* NULL: slow calls are not listed */
    call_counter_visit_slow visit_slow;
    void *slow_context;
    struct call_split *split; /* NULL: times are not split */
    pid_t *tids;              /* of the schedulers that are armed */
    size_t tid_count, tid_room;
    struct armed_entry entries[WIRE_CALL_AT_ONCE];
    size_t entry_count;
    uint64_t hits[WIRE_CALL_COUNTS]; /* of breakpoints that are removed, by function */
    bool is_open;                    /* calls count now */
};

/* Set a breakpoint in all threads; callers set at most WIRE_CALL_AT_ONCE. Return 0, or -1 with an
 * error of breakpoint_set(). */
int call_counter_set(struct call_counter *counter, uint64_t address, int program, uint32_t function,
                     struct error *error);

/* Before the skeleton is loaded: make counter->split, find the places of its probes in the VM, and
 * want their programs. ERROR_UNSUPPORTED if a place is not found. */
int call_split_new(struct call_counter *counter, struct vm *vm, struct code *code,
                   struct error *error);

/* After that. Return 0, or -1 with error. */
int call_split_loaded(const struct call_counter *counter, struct error *error);

/* Before the skeleton is loaded: want no program of the probes. */
void call_split_omit(struct call_counter *counter);

/* Detach the probes. NULL is allowed. */
void call_split_free(struct call_split *split);

/* Make counter->slow. Return 0, or -1 with error. */
int call_counter_list_slow(struct call_counter *counter, struct error *error);

/* Replace *key by the next key of a map; by the first one if *is_begun is false, which becomes
 * true. False after the last key. */
bool call_counter_next_key(int map, bool *is_begun, void *key);

/* Try breakpoints on functions of this program, measure what a hit costs with these options, and
 * check that each is counted; with `times`, that each return is matched, too. Return 0, or -1 with
 * error: ERROR_UNSUPPORTED if they don't work here. */
int call_counter_try(struct call_counter *counter, const struct call_counter_options *options,
                     struct error *error);
