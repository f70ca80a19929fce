// SPDX-License-Identifier: Apache-2.0
/*
 * How the kernel gets past the instruction under a breakpoint, and functions with such
 * instructions, to measure the cost.
 *
 * The kernel emulates some instructions. It replaces a nop of five bytes by a call (Linux 6.18). It
 * executes any other instruction elsewhere, with a trap after it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

enum trap {
    TRAP_EMULATED, /* push, call, jump, nop */
    TRAP_NOP5,
    TRAP_ENDBR,   /* endbr64: functions begin with it where -fcf-protection is the default */
    TRAP_STEPPED, /* all others */
    TRAPS,
};

/* "emulated", "nop5"... */
extern const char *const trap_names[TRAPS];

enum { NOP5_BYTES = 5 };

/* How the kernel gets past the instruction at the start of these bytes. CPU_INSTRUCTION_BYTES_MAX
 * of them suffice. */
enum trap uprobe_trap_of_code(const uint8_t *code, size_t size);

/* True if `size` bytes that have changed are the kernel's breakpoint. */
bool uprobe_trap_is_breakpoint(const uint8_t *changed, size_t size);

/* Functions that begin with an instruction of each kind, and return at once. */
extern void (*const trap_functions[TRAPS])(void);

/* Fill the red zone with `value`, run the nop at trap_nop5_of_leaf, and return how many of the 16
 * words have another value then. */
uint64_t trap_nop5_in_leaf(uint64_t value) __attribute__((visibility("hidden")));
void trap_nop5_of_leaf(void) __attribute__((visibility("hidden")));
