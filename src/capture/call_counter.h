// SPDX-License-Identifier: Apache-2.0
/*
 * Counts calls of functions: hardware breakpoints on their entries in all schedulers of a VM, with
 * the program of bpf/calls.bpf.c.
 *
 *   new ──> { arm, disarm, follow_threads, set_code, open, close }... ──> { sums, each } ──> free
 *
 * new() tries breakpoints on a function of this program. If they don't work here, it says so before
 * the VM has one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/code.h"
#include "beam/vm.h"
#include "util/error.h"
#include "wire_calls.h"

struct call_counter;

struct call_counter_options {
    bool times;               /* how long calls take can be measured */
    bool words;               /* with `times`: and the words that are allocated in calls */
    uint64_t slow_ns;         /* with `times`: calls that take as long are listed; 0: none */
    uint32_t argument_levels; /* of nesting that are copied of arguments; 0: they are not copied */
    bool shapes_only;         /* only the shapes of arguments are copied */
    bool matches;             /* functions can have patterns */
    bool by_caller;           /* rows of processes are by caller, too */
    bool frame_pointers;      /* the VM's Erlang frames have them */
    struct code *split;       /* with `times`: they are split; the VM's code. NULL: they are not */
};

/* `vm` and the code are borrowed. */
struct call_counter *call_counter_new(struct vm *vm, const struct call_counter_options *options,
                                      struct error *error);
void call_counter_free(struct call_counter *counter);

/* The mean cost of a hit, ns: the CPU time of a call with a breakpoint on its entry on this
 * machine, and the time in which large maps were searched. */
double call_counter_hit_ns(const struct call_counter *counter);

/* What breakpoints add to the time of a call, ns; 0 if no times are measured. It is subtracted. */
double call_counter_own_ns(const struct call_counter *counter);

/* With `matches`: count only the calls of this function that match. */
int call_counter_match(struct call_counter *counter, uint32_t function,
                       const struct wire_match *match, struct error *error);

/* Count calls that enter at `entry`. Return 0, or -1 with an error of breakpoint_set(). */
int call_counter_arm(struct call_counter *counter, uint64_t entry,
                     const struct wire_call_site *site, struct error *error);
void call_counter_disarm(struct call_counter *counter, uint64_t entry);

/* Arm the scheduler threads that have started since. Cheap while all are armed. */
int call_counter_follow_threads(struct call_counter *counter, struct error *error);

/* The number of schedulers of the VM whose threads have not been found. */
uint32_t call_counter_missing_threads(const struct call_counter *counter);

/* Give calls from now on this number of the code map. */
void call_counter_set_code(struct call_counter *counter, uint32_t code);

/* All hits in the VM so far, of all functions and return addresses. */
uint64_t call_counter_hits(const struct call_counter *counter);

/* The CPU time that hits in the VM have cost so far, with those of probes, ns. */
double call_counter_cost_ns(const struct call_counter *counter);

/* The calls of a function so far. */
uint64_t call_counter_calls(const struct call_counter *counter, uint32_t function);

/* The weight of a function's calls so far (wire_call_row). */
uint64_t call_counter_weight(const struct call_counter *counter, uint32_t function);

/* Count calls from now on, each with this weight, 1 or more. A new counter does, with 1. */
void call_counter_open(struct call_counter *counter, double weight);

/* Count no calls from now on. */
void call_counter_close(struct call_counter *counter);

/* ---- after close() ---- */

struct call_sums {
    struct wire_call_counts counts;
    uint64_t missed; /* hits that the kernel counted without running the program */
};
struct call_sums call_counter_sums(const struct call_counter *counter, uint32_t function);

/* ---- at any time ---- */

enum call_map { CALL_MAP_CALLERS, CALL_MAP_PROCESSES };

/* Visit the entries of a map. */
typedef void (*call_counter_visit)(void *context, const struct wire_call_key *key,
                                   const struct wire_call_row *row);
void call_counter_each(const struct call_counter *counter, enum call_map map,
                       call_counter_visit visit, void *context);

/* Visit the different arguments of calls, WIRE_ARGUMENT_ROWS at most: calls with others have no
 * row. Those of the trial are visited too. */
typedef void (*call_counter_visit_arguments)(void *context, const struct wire_arguments_key *key,
                                             const struct wire_arguments_row *row);
void call_counter_each_arguments(const struct call_counter *counter,
                                 call_counter_visit_arguments visit, void *context);

/* ---- call_returns.c ---- */

/*
 * How long calls take: breakpoints on the addresses that they return to. The addresses are those of
 * CALL_MAP_CALLERS.
 */

/* From now on calls that return to this address are measured. Return 0, or -1 with an error of
 * breakpoint_set(). */
int call_counter_arm_return(struct call_counter *counter, uint64_t address, struct error *error);

/* Do not measure calls that return to this address any more. */
void call_counter_forget_return(struct call_counter *counter, uint64_t address);

/* Visit the calls that have not returned, as far as that was seen. Those for which the visit
 * returns true are forgotten. */
typedef bool (*call_counter_visit_open)(void *context, const struct wire_call_frame *frame,
                                        const struct wire_open_call *call);
void call_counter_each_open(const struct call_counter *counter, call_counter_visit_open visit,
                            void *context);

/* Visit the times of calls that have returned, those of the trial too. */
typedef void (*call_counter_visit_time)(void *context, const struct wire_time_key *key,
                                        const struct wire_time_row *row);
void call_counter_each_time(const struct call_counter *counter, call_counter_visit_time visit,
                            void *context);

/* With `split`: visit the parts of these times. */
typedef void (*call_counter_visit_part)(void *context, const struct wire_part_key *key,
                                        const struct wire_part_row *row);
void call_counter_each_part(const struct call_counter *counter, call_counter_visit_part visit,
                            void *context);

/* Visit the calls that are listed since the last time. */
typedef void (*call_counter_visit_slow)(void *context, const struct wire_slow_call *call);
void call_counter_each_slow(struct call_counter *counter, call_counter_visit_slow visit,
                            void *context);

/* ---- call_split.c ---- */

/*
 * What the time of calls is made of (struct wire_call_split): probes on the functions of the VM
 * that schedule and collect. They have hits of all processes.
 */

/* Attach the probes: the time of calls that begin from now on is split. Return the CPU time that it
 * takes, ns, or -1 with error: ERROR_FAILED if another process would have to wait for that. */
double call_counter_start_split(struct call_counter *counter, struct error *error);

/* Detach them. Return the CPU time that it takes, ns. */
double call_counter_stop_split(struct call_counter *counter);

/* Hits of these probes so far, and the cost of one, ns. */
uint64_t call_counter_split_hits(const struct call_counter *counter);
double call_counter_split_ns(const struct call_counter *counter);
