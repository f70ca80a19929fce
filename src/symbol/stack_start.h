// SPDX-License-Identifier: Apache-2.0
/* Finds the return address of the youngest function on an Erlang stack. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/code.h"
#include "symbol/leaf_frame.h"
#include "symbol/snapshot.h"

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
