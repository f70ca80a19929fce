// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>

#include "beam/code.h"
#include "beam/vm.h"

/* True if the function that calls enter at `entry` calls itself by a jump: its body is a loop, and
 * each round passes the entry. False if the code can't be read,
 * or the jump is behind its first 256 KB. */
bool call_loop_is(struct vm *vm, struct code *code, uint64_t entry);
