// SPDX-License-Identifier: Apache-2.0
/*
 * Names of VM functions, derived from their callers: shared fragments of the JIT call the same
 * runtime functions in the same order in every release. A fragment is skipped if its number of
 * calls differs from the known one.
 */
#pragma once

#include <stdint.h>

#include "beam/code.h"
#include "beam/vm.h"

/* Called with the address of a function and its name, a constant string. */
typedef void (*fragment_calls_visit)(void *context, uint64_t address, const char *name);
void fragment_calls_each(struct vm *vm, struct code *code, fragment_calls_visit visit,
                         void *context);
