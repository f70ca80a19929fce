// SPDX-License-Identifier: Apache-2.0
/*
 * Native frames by call-frame information.
 *
 * Unwinds one frame at a time through `.eh_frame` (present in stripped binaries) or
 * `.debug_frame`, read with elfutils' libdw from the very files that the target has mapped. What
 * libdw says for an address is compiled once into a rule (a few bytes) and cached: unwinding a
 * frame that was seen before is a hash look-up and a handful of reads.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* x86-64 DWARF register numbers (System V ABI, figure 3.36). */
enum {
    CFI_RAX,
    CFI_RDX,
    CFI_RCX,
    CFI_RBX,
    CFI_RSI,
    CFI_RDI,
    CFI_RBP,
    CFI_RSP,
    CFI_R8,
    CFI_R9,
    CFI_R10,
    CFI_R11,
    CFI_R12,
    CFI_R13,
    CFI_R14,
    CFI_R15,
    CFI_RIP,
    CFI_REGISTERS
};

struct cfi_registers {
    uint64_t value[CFI_REGISTERS];
    uint32_t known; /* bit N: value[N] holds */
    bool exact_pc;  /* set by cfi_step: this frame was interrupted by a signal, so that rip is the
                     * next instruction, not the one after a call. Zero to begin with. */
};

/* Reads one word of the sampled stack; false if that word was not captured. */
typedef bool (*cfi_read_word)(void *context, uint64_t address, uint64_t *word);

enum cfi_result {
    CFI_STEPPED,  /* registers are now the caller's */
    CFI_END,      /* outermost frame (undefined or null return address) */
    CFI_NO_RULE,  /* no file, or no information for this address */
    CFI_NO_STACK, /* the stack word needed was not captured, or an unknown register was needed */
};

struct mappings;
struct cfi;

/* `mappings` (os/mappings.h) say which file lies where; borrowed, must outlive the cfi. */
struct cfi *cfi_new(struct mappings *mappings);
void cfi_free(struct cfi *cfi);

/* Turn a frame's registers into its caller's. `is_leaf`: rip is where the thread was stopped
 * (else rip is a return address and the rule for the byte before it is used). On anything but
 * CFI_STEPPED the registers are as they were. The number of steps is for the caller to bound: a
 * hostile stack can be a ring.
 *
 * In an epilogue gcc can leave rules for registers that were popped already: where a
 * saved-register slot lies below the frame's own rsp and was not captured, the register keeps its
 * value. (Where it was captured it is read: it is in the red zone, which nothing but the function
 * itself writes, and a function that calls nothing may save registers there.) */
enum cfi_result cfi_step(struct cfi *cfi, struct cfi_registers *registers, bool is_leaf,
                         cfi_read_word read, void *context);
