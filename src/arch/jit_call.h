// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

/* Call a function as the JIT's code calls an Erlang function: the process and the address
 * of the X registers are in their registers, and the return address on the stack. Return that
 * address. */
uint64_t jit_call(void (*function)(void), const void *process, const uint64_t *x_registers);
