// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks of `perf script`, leaf first, as stacks of a profile.
 *
 * Those that beamflame wrote become what they were: escapes are undone, and the frames that say who
 * ran are marks. Of any other the root is the name of the thread, and symbols are as
 * stackcollapse-perf.pl has them: without offset, arguments and quotes, the module's name in
 * brackets where there is no symbol, "a->b" two frames of which the second is inlined ("b_[i]").
 * Other than there, "operator->" is one frame, and "(anonymous namespace)" is not left out.
 */
#pragma once

#include "profile/profile.h"
#include "util/span.h"

struct perf_stacks;

struct perf_stack {
    stack_id stack;
    uint32_t frames, unresolved;
};

/* `profile` is borrowed. `own`: beamflame wrote them. */
struct perf_stacks *perf_stacks_new(struct profile *profile, bool own);
void perf_stacks_free(struct perf_stacks *stacks);

/* The stack whose frames are the lines of `text`, each with its end; of other programs with a root
 * for `comm`. 0, or the number of the line that is no frame, from 1 on. */
uint64_t perf_stacks_read(struct perf_stacks *stacks, struct span text, string_id comm,
                          struct perf_stack *ret_stack);
