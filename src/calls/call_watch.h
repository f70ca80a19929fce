// SPDX-License-Identifier: Apache-2.0
/*
 * Counts calls of functions in a VM for some time.
 *
 *   new ──> [ await ] ──> find ──> start ──> step... ──> end ──> { report } ──> free
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "beam/vm.h"
#include "beam/function_name.h"
#include "calls/call_report.h"
#include "calls/match_pattern.h"
#include "util/error.h"

struct call_watch;
struct call_steering; /* calls/call_steering.h */

/* `vm` is borrowed. NULL with error. */
struct call_watch *call_watch_new(struct vm *vm, struct error *error);
void call_watch_free(struct call_watch *watch);

/* As call_functions_missing(). */
const char *call_watch_missing(const struct call_watch *watch, const struct function_name *names,
                               size_t count);
/* Wait until the VM has loaded the modules of these names. Fails if the VM ends before, or if a
 * signal asks for the end. */
int call_watch_await(struct call_watch *watch, const struct function_name *names, size_t count,
                     struct error *error);

/* As call_functions_find(). */
int call_watch_find(struct call_watch *watch, const struct function_name *names, size_t count,
                    struct error *error);

struct call_watch_options {
    double budget;            /* the share of the VM's CPU time that hits may cost; 1: no limit */
    bool times;               /* measure how long calls take: functions are counted one at a time */
    bool words;               /* with `times`: measure the words that are allocated in calls */
    bool splits;              /* with `times`: measure what the process does in calls */
    uint64_t slow_ns;         /* with `times`: list calls that take as long; 0: none */
    uint32_t argument_levels; /* count calls by arguments, nested as deep; 0: not */
    bool shapes_only;         /* count them by the shapes of arguments */
    bool by_caller;           /* rows of processes are by caller, too; processes get no names */
    const struct match_pattern *const *patterns; /* count only calls that match, one a function */
    size_t pattern_count;
    struct call_steering *steering; /* takes requests while calls are counted; NULL: none */
};

/* Try breakpoints on this program, and set them in the VM: calls count from now on. Calls count in
 * windows if all of them cost more than the budget. */
int call_watch_start(struct call_watch *watch, const struct call_watch_options *options,
                     struct error *error);

const struct call_functions *call_watch_functions(const struct call_watch *watch);

enum call_end {
    CALL_END_TIME,  /* the time has ended, or a signal came */
    CALL_END_VM,    /* the VM has ended */
    CALL_END_ERROR, /* breakpoints could not be set in code that was loaded since */
};

struct call_facts {
    enum call_end end;
    struct error error; /* of CALL_END_ERROR */
    double seconds;
    double hit_ns; /* of CPU time that a hit costs */
    double own_ns; /* that was subtracted from the time of each call; 0: no times were measured */
    uint64_t hits;
    double split_ns;     /* of CPU time that a hit of the probes that split times costs */
    uint64_t split_hits; /* of these probes */
    double share;        /* of the CPU time of the VM that hits cost, at most 1 */
    bool is_scaled;      /* calls were counted in windows only, for a part of the time */
    uint64_t windows;
    double covered;           /* the share of time in windows */
    double followed_ns;       /* calls were followed for as long at most; 0: without a limit */
    uint32_t reloads;         /* changes of the VM's code for which breakpoints were set again */
    double blind_seconds;     /* after a change, calls of new code were not counted for this time at
                               * most */
    bool old_code;            /* breakpoints did not suffice for older versions of a module */
    uint32_t missing_threads; /* schedulers that were not found */
};

/* Do what is due. `*until` is set to the time of the next step at the latest, ns, CLOCK_MONOTONIC.
 * False if counting ends: call end(). */
bool call_watch_step(struct call_watch *watch, uint64_t *until);

/* Stop counting. */
void call_watch_end(struct call_watch *watch, struct call_facts *ret_facts);

/* After end(). Borrows from `watch`. */
void call_watch_report(const struct call_watch *watch, struct call_report *report);

/* What has counted since start(). Borrowed. */
const struct call_counter *call_watch_counter(const struct call_watch *watch);
const struct call_windows *call_watch_windows(const struct call_watch *watch);

/* With `by_caller`: who made the calls of a row of processes. As call_names_find_caller(). */
enum caller_kind call_watch_caller(struct call_watch *watch, const struct wire_call_key *row,
                                   struct call_named *ret_caller);

/* ---- call_change.c ---- */

/*
 * While calls are counted, other functions. Both take a name as function_name_parse() does, which
 * may be a pattern. Return 0; 1 with error, and the functions are those of before; or -1 with error
 * if counting can't continue.
 */

/* Count the functions of this name from now on, too. */
int call_watch_add(struct call_watch *watch, const char *name, struct error *error);

/* Count them no longer. Their counts stay. */
int call_watch_remove(struct call_watch *watch, const char *name, struct error *error);

struct call_watch_status {
    double seconds; /* since the start */
    uint64_t hits;
    const char *functions[WIRE_CALL_FUNCTIONS]; /* that are counted now; borrowed */
    size_t count;
    uint32_t groups; /* that take turns; 1: all functions are counted at once */
    pid_t pid;       /* of the VM */
};
struct call_watch_status call_watch_status(const struct call_watch *watch);
