// SPDX-License-Identifier: Apache-2.0
/* Where x86-64 machine code goes when it does not return. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef void (*code_exit_visit)(void *context, uint64_t target);

/* Visit the addresses outside of the function that its jumps lead to: the functions that it ends
 * in. `code` are its bytes, `start` where they are in the target. Computed jumps are left out. */
void code_exits(const uint8_t *code, size_t size, uint64_t start, code_exit_visit visit,
                void *context);
