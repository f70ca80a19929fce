// SPDX-License-Identifier: Apache-2.0
/*
 * In which state of microstate accounting a thread is at a sample (profile/microstates.h).
 *
 * The VM changes the state where it calls certain functions, and back when they return: so the
 * function of that kind that is nearest to the leaf of the stack tells the state, and where there
 * is none, what the scheduler's struct says it runs. The time in a function that is not known
 * (symbol/state_functions.h) counts as what it was called from.
 */
#pragma once

#include "beam/vm.h"
#include "profile/microstates.h"
#include "symbol/snapshot.h"
#include "symbol/state_functions.h"
#include "symbol/unwind.h"

struct microstate_finder;

/* All borrowed. */
struct microstate_finder *microstate_finder_new(const struct vm *vm,
                                                const struct state_functions *functions,
                                                const struct profile *profile);
void microstate_finder_free(struct microstate_finder *finder);

/* Stacks are of this profile from now on. */
void microstate_finder_move(struct microstate_finder *finder, const struct profile *profile);

/* `stack`: that of the sample, which was made of `unwound`. */
enum microstate microstate_of(struct microstate_finder *finder, const struct snapshot *snapshot,
                              const struct unwound *unwound, stack_id stack);
