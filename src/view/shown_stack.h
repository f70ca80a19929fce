// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks as a view shows them: with recursion folded, and with the middle cut out of deep ones, if
 * the options say so. Otherwise they are those of the profile.
 */
#pragma once

#include <stdint.h>

#include "profile/profile.h"

struct view_options;

struct shown_stacks;

/* Stands for the frames that were cut out of a stack. */
#define CUT_FRAME UINT32_MAX

/* `profile` is borrowed. */
struct shown_stacks *shown_stacks_new(const struct profile *profile,
                                      const struct view_options *options);
void shown_stacks_free(struct shown_stacks *shown);

/* Return the id of the stack that is shown for a stack of the profile: equal for stacks that look
 * the same. 0 stays 0. */
stack_id shown_stack_of(struct shown_stacks *shown, stack_id id);

/* Return the leaf of a shown stack. Its frame can be CUT_FRAME. */
const struct stack_node *shown_stack_node(const struct shown_stacks *shown, stack_id id);

/* Return the first Erlang frame from the root of a stack of the profile, 0 if it has none. */
frame_id shown_stack_bottom(struct shown_stacks *shown, stack_id id);
