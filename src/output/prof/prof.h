// SPDX-License-Identifier: Apache-2.0
/*
 * Tables of functions in the way of Erlang's tprof: own time, words or calls, of all processes or
 * of each. `prof_format` writes them; output_settings.prof selects what.
 *
 * The own time or words of a function are those of the samples in which it is the Erlang function
 * or BIF nearest to the leaf. Native code, the kernel and garbage collections belong to the
 * function that they run for.
 */
#pragma once

#include <stddef.h>

#include "beam/function_name.h"

/* The order of each is that of the words of its option (cli/prof.c). */

enum prof_type {
    PROF_TIME,   /* of event cpu */
    PROF_MEMORY, /* words of event alloc */
    PROF_COUNT,  /* calls and hits of all events that count them */
};

enum prof_per {
    PROF_PER_TOTAL,
    PROF_PER_PROCESS, /* a table for each process */
};

/* What tables are sorted by, the greatest first; names are in ascending order. */
enum prof_sort {
    PROF_SORT_OWN,
    PROF_SORT_PERCENT,
    PROF_SORT_CALLS,
    PROF_SORT_PER_CALL,
    PROF_SORT_SAMPLES,
    PROF_SORT_FUNCTION,
};

enum prof_form {
    PROF_TEXT,
    PROF_TPROF, /* the layout of tprof:format/1 */
    PROF_CSV,
    PROF_JSON,
    PROF_FPROF, /* an analysis of fprof, by fprof_format */
};

struct prof_options {
    enum prof_type type;
    enum prof_per per;
    enum prof_sort sort;
    enum prof_form form;
    size_t top; /* rows of each table; 0: all that chance does not explain */
    const struct function_name *pattern; /* the functions to list; NULL: all */
};
