// SPDX-License-Identifier: Apache-2.0
/*
 * Functions in the code of a VM, and where calls enter them.
 *
 * Each call of a function passes one address once, the function's label: local, external and tail
 * calls, calls of funs, apply and spawn. At the label the JIT puts the bytes that breakpoints of
 * the VM change (emit_i_breakpoint_trampoline). The check for a process that has used up its time
 * follows (emit_i_test_yield). Such a process continues behind the check: it does not pass the
 * label again. A BIF's calls pass the first instruction of its C function.
 *
 *      ErtsCodeInfo    40 bytes, the last 24 of them the function's name: ErtsCodeMFA
 *      label           <- the breakpoint
 *      prologue        8 bytes
 *      i_test_yield
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "beam/atom.h"
#include "beam/code.h"
#include "beam/function_name.h"
#include "wire_calls.h"

struct counted_function {
    char *symbol; /* "lists:map/2", "Enum.map/2" */
    char *module; /* the atom's text */
    uint64_t bif; /* the address of a BIF's C function; 0: it is Erlang code, or a NIF */
};

struct call_functions {
    struct counted_function of[WIRE_CALL_FUNCTIONS];
    size_t count;
};

/* Return the first module of these names that the VM has not loaded, as users write it; NULL if it
 * has all. A pattern needs no module. */
const char *call_functions_missing(struct code *code, const struct function_name *names,
                                   size_t count);

/* Find the functions with these names. A name without an arity stands for all arities. Return 0, or
 * -1 with error: ERROR_USAGE with a suggestion if the VM has none of that name, or if there are too
 * many; ERROR_UNSUPPORTED for BIFs that hooks_bif() refuses. Patterns leave out all BIFs. */
int call_functions_find(struct vm *vm, struct code *code, const struct function_name *names,
                        size_t count, struct call_functions *functions, struct error *error);
void call_functions_free(struct call_functions *functions);

/* Append a function, if there are less than WIRE_CALL_FUNCTIONS. Its texts are copied. */
void call_functions_add(struct call_functions *functions, const struct counted_function *function);

/* Return 0 if the calls of all functions can be followed to their end, else -1 with error: those of
 * BIFs can't, which may end and begin again until they return. */
int call_functions_check_returns(const struct call_functions *functions, struct error *error);

/* An entry of a function. */
struct call_entry {
    uint64_t address;
    struct wire_call_site site;
};

enum { CALL_VERSIONS = 2 }; /* of a module that the VM has at once */

/* Find the entries of function number `number` in the versions of its module, the newest first.
 * Return their number, at most CALL_VERSIONS. Entries whose code is not the function's any more are
 * omitted. */
size_t call_functions_entries(const struct call_functions *functions, uint32_t number,
                              struct vm *vm, struct code *code, struct atoms *atoms,
                              struct call_entry *entries);
