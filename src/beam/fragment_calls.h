// SPDX-License-Identifier: Apache-2.0
/*
 * Functions of the VM, told by what calls them: shared fragments of the JIT call the same runtime
 * functions in the same order in every release. A fragment with another number of calls than is
 * known tells nothing.
 */
#pragma once

#include <stdint.h>

#include "beam/code.h"
#include "beam/vm.h"

/* One function and its name, which is constant. */
typedef void (*fragment_calls_visit)(void *context, uint64_t address, const char *name);
void fragment_calls_each(struct vm *vm, struct code *code, fragment_calls_visit visit,
                         void *context);
