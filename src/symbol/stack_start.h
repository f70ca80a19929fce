// SPDX-License-Identifier: Apache-2.0
/* Where on an Erlang stack the return address of its youngest function is. */
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
    uint64_t leaf; /* where the youngest function is, or made its call; 0: not known */
};

/* Address of the word on the stack that is at `top`: `leaf` is right there or behind its frame.
 * False where it is only likely to be the one. */
bool stack_start(const struct stack_search *search, uint64_t top, uint64_t *ret_start);

/* The same where the top is not known, but is near `about`: the first return address from which
 * each frame leads to the next by its size. 0: there is none. */
uint64_t stack_start_near(const struct stack_search *search, uint64_t about);

/* Whether the stack at `top` can be that of the leaf, by the return address behind its frame. */
enum call_proof stack_fits(const struct stack_search *search, uint64_t top);
