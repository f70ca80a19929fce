// SPDX-License-Identifier: Apache-2.0
/*
 * For the files of the unwinder only:
 *
 *      unwind.c         one sample: native frames, the top of the Erlang stack, BIFs
 *      unwind_erlang.c  the Erlang stack below that
 */
#pragma once

#include "symbol/leaf_frame.h"
#include "symbol/unwind.h"

enum { LOWEST_POINTER = 4096 };

struct unwinder {
    const struct vm *vm;
    struct code *code;
    struct cfi *cfi;
    struct leaf_frames *leaf_frames;
    struct unwound result;
};

/* What the sample's copies of the structs tell about the process and its scheduler. */
struct unwind_state {
    const struct snapshot *snapshot;
    struct cfi_registers registers;
    uint64_t pc;
    bool is_leaf; /* the thread was stopped at pc: no return address */
    bool has_process;
    uint64_t base; /* ErtsSchedulerData.registers, next to the JIT's C frame; 0: none */
    uint64_t stop, heap, hend, i;
    uint64_t current; /* BIF or NIF that runs, or ran last: packed, 0: none */
    uint64_t fcalls;  /* Process.fcalls as a word */
};

/* Append a frame to the result. */
void unwind_emit(struct unwinder *unwinder, enum address_kind kind, uint64_t address,
                 bool is_return);

bool unwind_on_erlang_stack(const struct unwind_state *state, uint64_t address);

/* The return address of bs_init_bits_shared, or 0. Its caller is already on the C stack when it
 * calls this fragment, and the fragment calls C code from there (x86/instr_bs.cpp). So its return
 * address is the first word of the C stack, where other fragments have a return address into
 * themselves. */
uint64_t unwind_fragment_caller_on_c_stack(struct unwinder *unwinder,
                                           const struct unwind_state *state);

/* Emit the callers whose return addresses are on the Erlang stack from `at` on. */
void unwind_erlang(struct unwinder *unwinder, const struct unwind_state *state, uint64_t at);

/* Emit the callers of a fragment. Module code calls a fragment by a plain call, so the return
 * address is not aligned, unlike those between Erlang functions. It is the first word of the stack.
 * In the length/1 fragments it is one word below. Return where the walk continues. `*leaf` becomes
 * the address of the call in the function that is then the youngest, or 0. */
uint64_t unwind_erlang_fragment_caller(struct unwinder *unwinder, const struct unwind_state *state,
                                       uint64_t top, uint64_t *leaf);
