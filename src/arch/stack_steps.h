// SPDX-License-Identifier: Apache-2.0
/* The effect of each instruction of a compiled Erlang function on the Erlang stack pointer, and the
 * instructions that may run after it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code at the target of a call, or of a jump that leaves the function. */
enum stack_target {
    STACK_TARGET_OTHER,
    STACK_TARGET_FUNCTION,    /* the depth is 0 at a jump to it */
    STACK_TARGET_PAUSE,       /* depth 0 too; resumes in this function, or returns from it */
    STACK_TARGET_NO_WAY_BACK, /* raises an exception: does not return to its caller */
};

struct decoder;

struct stack_code {
    struct decoder *decoder; /* of this code */
    const uint8_t *bytes;
    size_t size;
    uint64_t start;    /* address of the bytes in the target: the entry of the function */
    bool native_stack; /* the Erlang stack pointer is the CPU's (beam/features.h) */
    /* `export` is the last constant that was moved, since the preceding call, to the register in
     * which global::call_light_bif_shared takes an Export; 0: none. */
    enum stack_target (*target)(void *context, uint64_t address, uint64_t export);
    void *context;
};

enum stack_step_flags {
    STEP_GOES_ON = 1 << 0,       /* the next instruction may run after it */
    STEP_JUMPS = 1 << 1,         /* to `label` */
    STEP_JUMPS_OUT = 1 << 2,     /* it may jump to another function */
    STEP_RAISES = 1 << 3,        /* raises an exception: nothing runs after it */
    STEP_AT_ZERO = 1 << 4,       /* the depth before it is 0 */
    STEP_AFTER_ZERO = 1 << 5,    /* the depth after it is 0 */
    STEP_UNKNOWN = 1 << 6,       /* the depth after it is unknown */
    STEP_ENTERS = 1 << 7,        /* switches to the C stack: no depths there */
    STEP_LEAVES = 1 << 8,        /* switches back to the Erlang stack */
    STEP_SETS_HANDLER = 1 << 9,  /* sets an exception handler */
    STEP_ENDS_HANDLER = 1 << 10, /* removes a handler; a handler's code may begin with it */
    STEP_PADDING = 1 << 11,
};

struct stack_step {
    uint32_t offset;
    uint32_t label; /* offset in the function */
    int32_t words;  /* added to the depth */
    uint32_t flags;
};

/* Find all instructions, in address order, to be freed. Return their number; 0 if there is none,
 * the code is too large or some bytes are not an instruction. */
size_t stack_steps_find(const struct stack_code *code, struct stack_step **ret_steps);
