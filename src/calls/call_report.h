// SPDX-License-Identifier: Apache-2.0
/* The counts, by names. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/call_arguments.h"
#include "calls/call_followed.h"
#include "calls/call_functions.h"
#include "calls/call_names.h"
#include "calls/call_rates.h"
#include "calls/call_times.h"
#include "calls/call_windows.h"
#include "calls/slow_calls.h"
#include "capture/call_counter.h"

/* A caller, a process, or the arguments of calls, of a function. */
struct counted_row {
    struct call_named who; /* arguments: the text, "", 0 */
    uint64_t weight;       /* of the calls that were seen (struct wire_call_row) */
    uint64_t seen;
    uint64_t calls;          /* those that were seen stand for */
    struct call_times times; /* of callers */
};

struct counted_rows {
    struct counted_row *of; /* the most calls first */
    size_t count, room;
    uint64_t
        lost; /* calls that have no row: the kernel's map was full, or its program did not run */
};

/* The calls of the rows and the lost ones are all calls. */
struct call_function_report {
    const char *symbol;
    struct call_span counted; /* all numbers are those of this time */
    bool is_part;             /* of the time of the report */
    uint64_t calls, seen;
    double half; /* of the 95 % interval of `calls`; 0: exact, NAN: unknown */
    struct counted_rows callers, processes, arguments;
    uint64_t *over_time; /* calls in each piece of time (struct call_report) */
    /* Calls that did not match the pattern: in no other number. Those that were seen stand for
     * `unmatched`, which is at least so many if no call matched. */
    uint64_t unmatched, unmatched_seen;
    /* Calls that may have matched, or not: in no other number. As for `unmatched`. */
    uint64_t unchecked, unchecked_seen;
    uint64_t cut; /* calls of `arguments` of which a part was not copied */
    /* How long calls take; all are 0 if that was not measured. */
    struct call_times times; /* of all callers */
    struct call_unreturned unreturned;
};

struct call_report {
    bool has_times, has_words, has_split, has_arguments, has_matches;
    struct call_function_report of[WIRE_CALL_FUNCTIONS]; /* the most calls first */
    size_t count;                             /* a function that was added again counts again */
    const char *symbols[WIRE_CALL_FUNCTIONS]; /* by the number of the function */
    const uint64_t *piece_ends;               /* ns from the start */
    size_t piece_count;
    bool lists_slow;
    const struct slow_call *slow; /* the longest first */
    size_t slow_count;
    uint64_t unlisted; /* slow calls that are not listed */
};

/* What a report is made of. All is borrowed. */
struct call_results {
    const struct call_functions *functions;
    const struct call_counter *counter;
    const struct call_windows *windows; /* that have ended */
    const struct call_names *names;
    const struct call_followed *followed;   /* NULL: times were not measured */
    bool words;                             /* and words were measured */
    bool splits;                            /* and times were split */
    struct slow_calls *slow;                /* NULL: none were listed */
    const struct call_arguments *arguments; /* NULL: they were not copied */
    const bool *has_pattern;                /* by function; NULL: none has one */
    const struct call_rates *rates;         /* that have ended */
};

void call_report_make(const struct call_results *results, struct call_report *report);
void call_report_free(struct call_report *report);

/* Sort rows, and merge those with equal names, and their times. */
void call_report_merge(struct counted_rows *rows);

/* Divide the calls of a function among merged rows by their weight. `weight` is that of all calls,
 * also of those without a row, which get the rest. */
void call_report_divide(struct counted_rows *rows, uint64_t calls, uint64_t weight);
