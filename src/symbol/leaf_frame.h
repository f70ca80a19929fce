// SPDX-License-Identifier: Apache-2.0
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
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/code.h"
#include "beam/vm.h"

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

/* Can the call before `return_address` lead to the function that contains `callee`? A call of
 * another function can, if that function may end in a jump out of it. The targets of Exports, funs
 * and BIFs are not followed. */
enum call_proof { CALL_DISPROVEN, CALL_POSSIBLE, CALL_PROVEN };
enum call_proof leaf_frame_call(struct leaf_frames *frames, uint64_t return_address,
                                uint64_t callee);

/* The stack depths of a function (native/stack_depth.h), for measurements. NULL if the function's
 * code has changed. Valid until the next call. */
const struct stack_depths *leaf_frame_depths(struct leaf_frames *frames,
                                             const struct code_place *function);
