// SPDX-License-Identifier: Apache-2.0
/*
 * How far x86-64 code has moved the stack pointer since its function was entered, at each of its
 * instructions: the number of words between the stack pointer and the return address.
 *
 * Compiled Erlang code moves it by constants, so the depths of instructions that lead to one
 * another differ by known numbers. Those that also lead from the entry, to a return or to the entry
 * of another function, where the depth is 0, are known; so code that is reached by an exception or
 * through a table of addresses is known from where it leads. Where two ways don't agree, none of
 * the code that they connect is known.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STACK_DEPTH_UNKNOWN = -1 };

/* What lies at the target of a call or of a jump that leaves the function. */
enum stack_target {
    STACK_TARGET_OTHER,
    STACK_TARGET_FUNCTION,    /* the depth is 0 where it is jumped to */
    STACK_TARGET_PAUSE,       /* likewise; goes on in this function, or returns from it */
    STACK_TARGET_NO_WAY_BACK, /* raises an exception: does not return to who calls it */
};

struct stack_code {
    const uint8_t *bytes;
    size_t size;
    uint64_t start; /* where the bytes are in the target: the entry of the function */
    /* `rcx` is the number that was moved to this register last, after the call before; 0: none. */
    enum stack_target (*target)(void *context, uint64_t address, uint64_t rcx);
    void *context;
};

/* Instructions from `offset` on, up to the next of these, all have the same depth. */
struct stack_depth_run {
    uint32_t offset;
    int32_t words;
};

struct stack_depths {
    struct stack_depth_run *runs;
    size_t count;
    uint32_t instructions, known; /* how many there are, without padding, and of how many */
    uint32_t contradictions;
    bool jumps_out; /* may end in a jump to another function */
};

/* Code that is too large or that does what Erlang code does not has no runs. */
void stack_depths_find(const struct stack_code *code, struct stack_depths *ret_depths);
void stack_depths_free(struct stack_depths *depths);

/* Before the instruction that holds this byte of the function. */
int32_t stack_depth_at(const struct stack_depths *depths, uint64_t offset);
