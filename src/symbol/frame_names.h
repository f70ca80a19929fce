// SPDX-License-Identifier: Apache-2.0
/*
 * Turns the addresses of an unwound stack into frames of the profile.
 *
 * The name of an address is looked up once and cached until the code changes. Addresses with the
 * same name, file and line share one frame.
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

/* Borrows all. */
struct frame_names *frame_names_new(struct vm *vm, struct atoms *atoms, struct code *code,
                                    struct runtime_names *runtime, struct profile *profile);
/* Until this is called, kernel functions are named by their address. Borrows `kernel`. */
void frame_names_set_kernel(struct frame_names *names, const struct kernel_symbols *kernel);
void frame_names_free(struct frame_names *names);

/* Create frames in this profile from now on. */
void frame_names_move(struct frame_names *names, struct profile *profile);

/* Learn the names of native functions without a symbol from a stack. Call this before naming the
 * stack's frames. */
void frame_names_learn(struct frame_names *names, const struct unwound *unwound);

/* The frame of one entry of an unwound stack. */
frame_id frame_name(struct frame_names *names, const struct unwound_frame *unwound);
