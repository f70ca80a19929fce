// SPDX-License-Identifier: Apache-2.0
/* What each instruction of a compiled Erlang function does to the stack pointer, and what runs
 * after it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/stack_depth.h"

enum stack_step_flags {
    STEP_GOES_ON = 1 << 0,       /* to the next instruction */
    STEP_JUMPS = 1 << 1,         /* to `label` */
    STEP_JUMPS_OUT = 1 << 2,     /* may jump to another function */
    STEP_RAISES = 1 << 3,        /* an exception: nothing runs after it */
    STEP_AT_ZERO = 1 << 4,       /* the depth before it is 0 */
    STEP_AFTER_ZERO = 1 << 5,    /* the depth behind it is 0 */
    STEP_UNKNOWN = 1 << 6,       /* the depth behind it is not known */
    STEP_ENTERS = 1 << 7,        /* the native stack, where the stack pointer does not count */
    STEP_LEAVES = 1 << 8,        /* it */
    STEP_SETS_HANDLER = 1 << 9,  /* of exceptions */
    STEP_ENDS_HANDLER = 1 << 10, /* takes one back; where one begins that an exception leads to */
    STEP_PADDING = 1 << 11,
};

struct stack_step {
    uint32_t offset;
    uint32_t label; /* offset in the function */
    int32_t words;  /* how much deeper it makes the stack */
    uint32_t flags;
};

/* All instructions in order of address. 0 if some bytes are none, or there are too many. */
size_t stack_steps_find(const struct stack_code *code, struct stack_step **ret_steps);
