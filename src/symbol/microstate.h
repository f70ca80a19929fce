// SPDX-License-Identifier: Apache-2.0
/*
 * The state of a thread at a sample, as in microstate accounting (profile/microstates.h).
 *
 * The VM changes the state when it calls certain functions, and changes it back when they return.
 * So of these functions the one nearest to the leaf of the stack gives the state. If the stack has
 * none, the scheduler's struct gives it. The time in a function that was not found
 * (symbol/state_functions.h) counts as the state of its caller.
 */
#pragma once

#include "beam/vm.h"
#include "profile/microstates.h"
#include "symbol/snapshot.h"
#include "symbol/state_functions.h"
#include "symbol/unwind.h"

struct microstate_finder;

/* Borrows all. */
struct microstate_finder *microstate_finder_new(const struct vm *vm,
                                                const struct state_functions *functions,
                                                const struct profile *profile);
void microstate_finder_free(struct microstate_finder *finder);

/* Stacks belong to this profile from now on. */
void microstate_finder_move(struct microstate_finder *finder, const struct profile *profile);

/* `stack`: the sample's stack in the profile, which was made from `unwound`. */
enum microstate microstate_of(struct microstate_finder *finder, const struct snapshot *snapshot,
                              const struct unwound *unwound, stack_id stack);
