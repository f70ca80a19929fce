// SPDX-License-Identifier: Apache-2.0
/*
 * The state of a thread at a sample, as in microstate accounting (profile/microstates.h).
 *
 * The VM changes the state when it calls certain functions, and changes it back when they return.
 * So of these functions the one nearest to the leaf of the stack gives the state. If the stack has
 * none, the scheduler's struct gives it. The time in a function that was not found
 * (symbol/state_functions.h) counts as the state of its caller. The classes of the frames
 * (symbol/frame_class.h) tell these functions from others.
 */
#pragma once

#include "beam/layout.h"
#include "profile/microstates.h"
#include "symbol/snapshot.h"
#include "symbol/state_functions.h"
#include "symbol/unwind.h"

/* All that the state depends on. */
struct thread_sample {
    const struct layout *layout;
    const struct state_functions *functions;
    const struct snapshot *snapshot;
    const struct unwound *unwound;
    const uint8_t *classes; /* enum frame_class of each frame of `unwound` */
};

enum microstate microstate_of(const struct thread_sample *sample);
