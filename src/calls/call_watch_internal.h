// SPDX-License-Identifier: Apache-2.0
/* What the files of call_watch.h share. */
#pragma once

#include "calls/call_arguments.h"
#include "calls/call_followed.h"
#include "calls/call_functions.h"
#include "calls/call_rates.h"
#include "calls/call_watch.h"
#include "calls/call_windows.h"
#include "calls/slow_calls.h"

struct call_watch {
    struct vm *vm;
    struct code *code;
    struct atoms *atoms;
    struct call_functions functions;
    struct call_names *names;
    struct call_counter *counter;
    struct call_windows *windows;
    struct call_rates *rates;
    struct call_followed *followed; /* NULL: times are not measured */
    bool words, splits, matches;    /* words are measured, times split; functions have patterns */
    bool has_pattern[WIRE_CALL_FUNCTIONS]; /* by function */
    bool by_caller;                        /* rows of processes are; processes get no names */
    struct slow_calls *slow;               /* NULL: slow calls are not listed */
    struct call_arguments *arguments;      /* NULL: they are not copied */
    uint32_t group_size;                   /* functions at once */
    /* The entries of each function in the code of now, the newest version first. */
    struct call_entry entries[WIRE_CALL_FUNCTIONS][CALL_VERSIONS];
    size_t entry_counts[WIRE_CALL_FUNCTIONS];
    struct call_entry armed[WIRE_CALL_AT_ONCE];
    size_t armed_count;
    uint32_t turn[WIRE_CALL_AT_ONCE]; /* the functions whose entries are armed */
    size_t turn_count;
    uint32_t code_number; /* wire_call_key.code */
    uint64_t epoch;       /* of the code map when entries were found */
    uint64_t began;
    uint64_t looked;                /* at the VM's code, the last time */
    uint64_t look_due;              /* the next time of that */
    uint64_t named;                 /* processes, the last time */
    uint64_t cpu_began;             /* CPU time of the VM at the start, ns */
    struct call_steering *steering; /* NULL: nobody steers */
    struct call_facts facts;
};

/* Find the entries of a function in the code of now. */
void call_watch_find_entries(struct call_watch *watch, uint32_t function);
