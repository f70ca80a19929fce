// SPDX-License-Identifier: Apache-2.0
/*
 * For the files of the unwinder only:
 *
 *      unwind.c         one sample: native frames, the top of the Erlang stack, BIFs
 *      unwind_erlang.c  the Erlang stack below that
 *      unwind_apart.c   what differs where Erlang stacks are apart from the machine stack
 *      stack_start.c    the first return address on an Erlang stack
 *      leaf_frame.c     the frame of the youngest Erlang function
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/code.h"
#include "beam/vm.h"
#include "symbol/snapshot.h"
#include "symbol/unwind.h"

enum { LOWEST_POINTER = 4096 };

struct unwinder {
    const struct vm *vm;
    struct code *code;
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

/* ---- unwind_apart.c ---- */

/*
 * Where Erlang stacks are apart from the machine stack (include/arch.h), the return addresses of
 * fragments are on the machine stack, those of functions on the Erlang stack. A function's frame
 * begins with the return address of its own call, so that its depth includes that word.
 */

/* True if the JIT's code has switched to C code: then Process.stop may be the top of the Erlang
 * stack. Otherwise the top is in its register. */
bool unwind_apart_in_c(const struct unwinder *unwinder, const struct unwind_state *state);

/* Read the return address from C code into the JIT's, from its place on the machine stack. */
bool unwind_apart_jit_return(const struct unwind_state *state, uint64_t *address);

/* Emit the callers of a fragment, or the caller of a function that is about to return. `*leaf`
 * becomes the address of the call in the function that is then the youngest, or 0. */
void unwind_apart_caller(struct unwinder *unwinder, const struct unwind_state *state, uint64_t top,
                         uint64_t *leaf);

/* True if the process has returned from its first function. */
bool unwind_apart_is_empty(const struct unwind_state *state, uint64_t top);

/* ---- stack_start.c ---- */

/* Finds the return address of the youngest function on an Erlang stack. */

struct stack_search {
    struct leaf_frames *frames;
    struct code *code;
    const struct snapshot *snapshot;
    uint64_t leaf; /* address in the youngest function, or of its call; 0: unknown */
};

/* Find the address of this word on a stack whose top is `top`. The word is at `top` or behind the
 * leaf's frame. False if the result is only likely. */
bool stack_start(const struct stack_search *search, uint64_t top, uint64_t *ret_start);

/* The same if the top is unknown but near `about`: the first return address from which each frame
 * leads to the next by its size. 0 if there is none. */
uint64_t stack_start_near(const struct stack_search *search, uint64_t about);

/* Can the stack at `top` belong to the leaf? The return address behind the leaf's frame decides. */
enum call_proof stack_start_fits(const struct stack_search *search, uint64_t top);

/* ---- leaf_frame.c ---- */

/*
 * The frame of the youngest Erlang function of a stack.
 *
 * A function that has just allocated its frame has not yet written all words of it: such a word can
 * be the return address of a call that has ended. The position in the function's code gives the
 * number of words in the frame. The return address to the caller follows these words.
 *
 * The frames of callers are completely written: a caller has left its frame by a call, and a
 * garbage collection may scan the stack during a call.
 */

struct leaf_frames;
struct stack_depths;

/* Borrows all. */
struct leaf_frames *leaf_frames_new(struct vm *vm, struct code *code);
void leaf_frames_free(struct leaf_frames *frames);

/* True if frames can be computed from the code of this release. */
bool leaf_frames_are_known(const struct leaf_frames *frames);

/* The number of words between the stack pointer and the function's return address, before the
 * instruction that contains the byte at `address`. STACK_DEPTH_UNKNOWN (native/stack_depth.h) if
 * unknown. */
int32_t leaf_frame_words(struct leaf_frames *frames, uint64_t address);

/* The number of words from the return address of a call to the return address of the function that
 * called. `address` lies in the call. */
int32_t leaf_frame_caller_words(struct leaf_frames *frames, uint64_t address);

/* Find out if the call before `return_address` can lead to the function that contains `callee`. A
 * call of another function can, if that function may end in a tail call. The targets of Exports,
 * funs and BIFs are not followed. */
enum call_proof { CALL_DISPROVEN, CALL_POSSIBLE, CALL_PROVEN };
enum call_proof leaf_frame_call(struct leaf_frames *frames, uint64_t return_address,
                                uint64_t callee);

/* The stack depths of a function (native/stack_depth.h), for measurements. NULL if the function's
 * code has changed. Valid until the next call. */
const struct stack_depths *leaf_frame_depths(struct leaf_frames *frames,
                                             const struct code_place *function);
