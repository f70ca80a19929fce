// SPDX-License-Identifier: Apache-2.0
/*
 * An address of an unwound stack becomes a frame of the profile.
 *
 * Names are looked up once an address and cached until the code changes; frames of equal name,
 * file and line are one, whatever the exact address.
 */
#pragma once

#include "beam/atom.h"
#include "beam/code.h"
#include "beam/vm.h"
#include "os/kernel_symbols.h"
#include "profile/profile.h"
#include "symbol/runtime_names.h"
#include "symbol/unwind.h"

struct frame_names;

/* All borrowed. */
struct frame_names *frame_names_new(struct vm *vm, struct atoms *atoms, struct code *code,
                                    struct runtime_names *runtime, struct profile *profile);
/* Until kernel symbols are given, kernel functions are named by their address. Borrowed. */
void frame_names_set_kernel(struct frame_names *names, const struct kernel_symbols *kernel);
void frame_names_free(struct frame_names *names);

/* Frames are made in this profile from now on. */
void frame_names_move(struct frame_names *names, struct profile *profile);

/* Take from a stack what it tells of native functions without a symbol. Call before its frames are
 * named. */
void frame_names_learn(struct frame_names *names, const struct unwound *unwound);

/* The frame of one entry of an unwound stack. */
frame_id frame_name(struct frame_names *names, const struct unwound_frame *unwound);
