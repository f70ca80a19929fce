// SPDX-License-Identifier: Apache-2.0
/*
 * The stack depth at each instruction of a compiled Erlang function: the number of words between
 * the Erlang stack pointer and the return address.
 *
 * Compiled Erlang code moves the stack pointer by constants. So the depths of two instructions that
 * follow each other differ by a known number. The depth is 0 at the entry, at a return and at a
 * jump to the entry of another function. All instructions that are connected with such a point have
 * a known depth. So code that is reached by an exception or through a table of addresses gets its
 * depth from the code that it leads to. If two paths disagree, all code that they connect has an
 * unknown depth.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/stack_steps.h"

enum { STACK_DEPTH_UNKNOWN = -1 };

/* All instructions from `offset` up to the next run have the same depth. */
struct stack_depth_run {
    uint32_t offset;
    int32_t words;
};

struct stack_depths {
    struct stack_depth_run *runs;
    size_t count;
    uint32_t instructions, known; /* their number, without padding; those with a known depth */
    uint32_t contradictions;
    bool jumps_out; /* it may end in a jump to another function */
};

/* Find the depths. The function gets no runs if its code is too large or some bytes are not an
 * instruction. */
void stack_depths_find(const struct stack_code *code, struct stack_depths *ret_depths);
void stack_depths_free(struct stack_depths *depths);

/* Return the depth before the instruction that contains the byte at `offset` of the function, or
 * STACK_DEPTH_UNKNOWN. */
int32_t stack_depth_at(const struct stack_depths *depths, uint64_t offset);
