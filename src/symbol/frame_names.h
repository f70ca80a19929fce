// SPDX-License-Identifier: Apache-2.0
/*
 * Turns the addresses of an unwound stack into frames of the profile, and classifies them.
 *
 * The name and class of an address are looked up once and cached until the code changes. Addresses
 * with the same name, file and line share one frame. When more functions of the VM become known
 * (symbol/state_functions.h), frames keep their names and get their new classes.
 */
#pragma once

#include "beam/atom.h"
#include "beam/code.h"
#include "beam/vm.h"
#include "os/kernel_symbols.h"
#include "profile/profile.h"
#include "symbol/runtime_names.h"
#include "symbol/state_functions.h"
#include "symbol/unwind.h"

struct frame_names;

/* Where names and classes come from. */
struct name_sources {
    struct vm *vm;
    struct atoms *atoms;
    struct code *code;
    struct runtime_names *runtime;
    const struct state_functions *functions;
};

/* Borrows all. */
struct frame_names *frame_names_new(const struct name_sources *sources, struct profile *profile);
/* Until this is called, kernel functions have no name. Borrows `kernel`. Their frames have their
 * addresses only with `addresses`: who knows one knows where the kernel is (KASLR). */
void frame_names_set_kernel(struct frame_names *names, const struct kernel_symbols *kernel,
                            bool addresses);
void frame_names_free(struct frame_names *names);

/* Create frames in this profile from now on. */
void frame_names_move(struct frame_names *names, struct profile *profile);

/* A stack of frames of the profile, leaf first. */
struct named_stack {
    size_t count;
    frame_id *frames;
    uint8_t *classes; /* enum frame_class of each frame */
    uint8_t *waiting; /* enum waiting_class of each frame */
    /* Numbers of frames: with Erlang code or a BIF, and without a name. */
    size_t erlang, unknown_erlang, unknown_native;
};

/* Name and classify each frame of an unwound stack. The result is valid until the next call. */
const struct named_stack *frame_names_find(struct frame_names *names,
                                           const struct unwound *unwound);
