// SPDX-License-Identifier: Apache-2.0
/*
 * Names for functions of the VM that its binary does not export (OTP 29 exports 1 % of its code).
 * The callers of a function give its name:
 *
 *   - Fragments of the JIT call the same runtime functions in the same order in every release.
 *   - Code that calls a BIF contains the address of the BIF's C function. The name of that function
 *     follows from the BIF's name (utils/make_tables 25.2.3:317).
 *   - The stacks of dirty schedulers show two functions (symbol/dirty_loop.h).
 *
 * The first two are checked against the code: a fragment with an unexpected number of calls names
 * nothing, and the calling code must contain the address of a BIF's function.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/code.h"
#include "beam/vm.h"

struct runtime_names;

/* Borrows both. Reads the fragments. */
struct runtime_names *runtime_names_new(struct vm *vm, struct code *code);
void runtime_names_free(struct runtime_names *names);

/* Learn the C function of the BIF `module`:`function`/`arity`. `start`: the start of the outermost
 * native frame's function. `return_address`: in the Erlang code that called the BIF. */
void runtime_names_learn_bif(struct runtime_names *names, uint64_t start, uint64_t return_address,
                             const char *module, const char *function, uint32_t arity);

/* Name the function that starts at an address, unless it has a name. `name` is not copied. */
void runtime_names_learn(struct runtime_names *names, uint64_t start, const char *name);

/* The name of the function that starts at an address, or NULL. */
const char *runtime_names_find(const struct runtime_names *names, uint64_t start);
