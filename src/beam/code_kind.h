// SPDX-License-Identifier: Apache-2.0
/*
 * The kind of a place in the code map, by its name. The code map compares names once, when it
 * parses a module. Code that handles samples compares numbers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/gdb_jit.h"

enum code_kind {
    CODE_FUNCTION, /* of a module */
    CODE_FRAGMENT, /* shared code of the JIT ("global::call_bif_shared") or its stubs */
    CODE_HEADER,   /* header, padding or literals of a module: never executed */
};

/* The fragments that differ from others in how they use the stack or what they call. */
enum fragment {
    FRAGMENT_NONE, /* not a fragment */
    FRAGMENT_OTHER,
    FRAGMENT_CALL_LIGHT_BIF,
    FRAGMENT_CALL_BIF,
    FRAGMENT_CALL_NIF,
    FRAGMENT_INIT_BITS,       /* bs_init_bits_shared and its forms */
    FRAGMENT_LENGTH,          /* length/1, in guards and bodies */
    FRAGMENT_PROCESS_MAIN,    /* switches processes */
    FRAGMENT_RUN_PROCESS,     /* erts_beamasm:run_process/3: a process starts */
    FRAGMENT_GARBAGE_COLLECT, /* calls no Erlang code */
    FRAGMENT_TEST_YIELD,      /* pauses at a function's entry */
    FRAGMENT_DISPATCH_RETURN, /* pauses before a return */
    FRAGMENT_RAISE,           /* never returns: raises an exception, or ends the process */
    /* Frames of tracing, by the number of words behind their return address that may look like
     * return addresses (gather_stacktrace, beam_common.c 25.2.3:776, 27.3.4.1:776, 29.1.1:782).
     * From 27 on the frame also ends with a term, the trace session
     * (erl_vm.h 27.3.4.1:322, 29.1.1:324). */
    FRAGMENT_TRACE,        /* 0: return_to_trace */
    FRAGMENT_TIME_TRACE,   /* 1: return_time_trace */
    FRAGMENT_RETURN_TRACE, /* 2: return_trace, exception_trace, call_trace_return */
};

/* `module`: name of the module in the JIT's list. `symbol`: name of the place in it. */
enum code_kind code_kind_of(const char *module, const char *symbol);

/* `symbol`: name of a fragment, like "global::call_bif_shared". */
enum fragment code_kind_of_fragment(const char *symbol);

/* A range of a module. */
struct range_kind {
    uint8_t kind;     /* enum code_kind */
    uint8_t fragment; /* enum fragment */
    bool is_function_header;
};

/* Classify the ranges of a module. Return an entry for each range, to be freed. */
struct range_kind *code_kind_of_ranges(const char *module, const struct gdb_jit_module *symbols);
