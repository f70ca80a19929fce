// SPDX-License-Identifier: Apache-2.0
/* The jumps with which functions leave for other functions. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef void (*code_exit_visit)(void *context, uint64_t target);

/* Visit the target of each jump that leaves the function: the functions that it tail-calls. `code`
 * is the function's code and `start` its address in the target. Computed jumps are left out. */
void tail_jumps(const uint8_t *code, size_t size, uint64_t start, code_exit_visit visit,
                void *context);
