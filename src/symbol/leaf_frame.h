// SPDX-License-Identifier: Apache-2.0
/*
 * The frame of the youngest Erlang function of a stack.
 *
 * A function that has just allocated its frame has not yet written all of it: a word there can be a
 * return address of a call that has ended. Where in the function it is says how many words the
 * frame has; who called it is right behind these. Frames of callers are all written, for their
 * functions were left by a call, in which the stack may be scanned for a garbage collection.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/code.h"
#include "beam/vm.h"

struct leaf_frames;
struct stack_depths;

/* All borrowed. */
struct leaf_frames *leaf_frames_new(struct vm *vm, struct code *code);
void leaf_frames_free(struct leaf_frames *frames);

/* Whether the code of this release can be read so: not that of OTP 24, where functions begin at
 * another place. */
bool leaf_frames_are_known(const struct leaf_frames *frames);

/* Words between the stack pointer and the return address of the function, before the instruction
 * that holds the byte at `address`; STACK_DEPTH_UNKNOWN (os/stack_depth.h) where that is not known.
 */
int32_t leaf_frame_words(struct leaf_frames *frames, uint64_t address);

/* Whether the call before `return_address` can lead to the function that `callee` lies in. A call
 * of another function can, where that ends in a jump out of it; and what an Export, a fun or a BIF
 * leads to is not looked for. */
enum call_proof { CALL_DISPROVEN, CALL_POSSIBLE, CALL_PROVEN };
enum call_proof leaf_frame_call(struct leaf_frames *frames, uint64_t return_address,
                                uint64_t callee);

/* All that is known of the code of a function (os/stack_depth.h), to measure; NULL where its code
 * is not what it was. Valid until the next call. */
const struct stack_depths *leaf_frame_depths(struct leaf_frames *frames,
                                             const struct code_place *function);
/* A function has two places, one right behind the other and of the same name: its header, with the
 * jump that it is called by, and its code. */
bool leaf_frame_is_header(struct leaf_frames *frames, const struct code_place *place);
