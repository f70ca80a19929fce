// SPDX-License-Identifier: Apache-2.0
/*
 * Names of functions of the VM that its binary does not export (OTP 29 exports 1 % of its code),
 * told from who calls them:
 *
 *  - fragments of the JIT call the same runtime functions in the same order in every release;
 *  - code that calls a BIF holds the address of the BIF's C function, whose name follows from the
 *    BIF's (utils/make_tables 25:317);
 *  - what a dirty scheduler's stack tells (symbol/dirty_loop.h).
 *
 * The first two are believed only where the code agrees: a fragment with another number of calls
 * than is known names nothing, and a BIF's function must be in the calling code.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/code.h"
#include "beam/vm.h"

struct runtime_names;

/* Both borrowed. Reads the fragments. */
struct runtime_names *runtime_names_new(struct vm *vm, struct code *code);
void runtime_names_free(struct runtime_names *names);

/* Learn the C function of the BIF `module`:`function`/`arity`: `start` is where the outermost
 * native frame's function begins, `return_address` the Erlang code that called the BIF. */
void runtime_names_learn_bif(struct runtime_names *names, uint64_t start, uint64_t return_address,
                             const char *module, const char *function, uint32_t arity);

/* Name the function that starts at an address, if it has no name yet. `name` is not copied. */
void runtime_names_learn(struct runtime_names *names, uint64_t start, const char *name);

/* Name of the function that starts at an address, NULL if not known. */
const char *runtime_names_find(const struct runtime_names *names, uint64_t start);
