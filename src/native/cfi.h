// SPDX-License-Identifier: Apache-2.0
/*
 * Unwinding of native frames by call-frame information.
 *
 * One step unwinds one frame. It uses `.eh_frame` (present in stripped binaries) or `.debug_frame`,
 * which elfutils' libdw reads from the very files that the target has mapped. Code that has
 * neither, such as that of musl, is followed to its return (cfi_code.c). What is found is
 * compiled once into a rule of a few bytes, and kept for all addresses that have it (cfi_rules.c).
 * So most frames cost one search and a handful of reads.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/cpu.h"

struct cfi_registers {
    uint64_t value[CPU_REGISTERS];
    register_set known; /* those whose value is known */
    bool exact_pc;      /* set by cfi_step(): a signal interrupted this frame, so the pc is the next
                         * instruction, not the one after a call. Initially false. */
};

/* Read one word of the sampled stack. False if that word was not captured. */
typedef bool (*cfi_read_word)(void *context, uint64_t address, uint64_t *word);

enum cfi_result {
    CFI_STEPPED,  /* the registers are now the caller's */
    CFI_END,      /* root frame: the return address is undefined or null */
    CFI_NO_RULE,  /* no file, or no call-frame information for this address */
    CFI_NO_STACK, /* a stack word was not captured, or a register is unknown */
};

struct mappings;

/* Turn a frame's registers into its caller's. `mappings` give the file at an address. `is_leaf`:
 * the pc is where the thread was stopped; else it is a return address, and the rule for the byte
 * before it is used. On any other result than CFI_STEPPED the registers are unchanged. The caller
 * must bound the number of steps: a hostile stack can be a ring.
 *
 * In an epilogue, gcc can leave rules for registers that were already popped. If the slot of a
 * saved register is below the frame's own stack pointer and was not captured, the register keeps
 * its value. If the slot was captured, it is read: it is in the red zone, which only the function
 * itself writes, and a function without calls may save registers there. */
enum cfi_result cfi_step(struct mappings *mappings, struct cfi_registers *registers, bool is_leaf,
                         cfi_read_word read, void *context);
