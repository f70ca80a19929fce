// SPDX-License-Identifier: Apache-2.0
/*
 * The names of callers and processes that calls are counted for.
 *
 * A caller is a return address. The VM may put other code at an address when it loads code. So
 * callers are named before the code map is refreshed, and each state of the map has a number
 * (wire_call_key.code). A process is named while it lives.
 */
#pragma once

#include <stdint.h>

#include "beam/atom.h"
#include "beam/code.h"
#include "beam/vm.h"
#include "capture/call_counter.h"
#include "util/error.h"
#include "wire_calls.h"

struct call_names;

/* A caller: function, file, line. A process: pid, name, 0. */
struct call_named {
    const char *name; /* valid as long as the struct call_names */
    const char *more; /* "" if unknown */
    uint32_t line;    /* 0: unknown */
};

/* All are borrowed. NULL with error. */
struct call_names *call_names_new(struct vm *vm, struct code *code, struct atoms *atoms,
                                  struct error *error);
void call_names_free(struct call_names *names);

/* Name the caller unless it has a name. If no code is at its address now, it gets none yet. */
void call_names_see_caller(struct call_names *names, const struct wire_call_key *key);
void call_names_see_process(struct call_names *names, const struct wire_call_key *key);

/* The same, of all callers and processes that calls were counted for. */
void call_names_see_callers(struct call_names *names, const struct call_counter *counter);
void call_names_see_processes(struct call_names *names, const struct call_counter *counter);

enum caller_kind { CALLER_UNKNOWN, CALLER_IS_START, CALLER_IS_FUNCTION };

/* Set *ret_caller, if a function made the call and not the start of a process. */
enum caller_kind call_names_find_caller(const struct call_names *names,
                                        const struct wire_call_key *key,
                                        struct call_named *ret_caller);

struct call_named call_names_caller(const struct call_names *names,
                                    const struct wire_call_key *key);
struct call_named call_names_process(const struct call_names *names,
                                     const struct wire_call_key *key);
