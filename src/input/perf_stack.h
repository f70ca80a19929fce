// SPDX-License-Identifier: Apache-2.0
/*
 * Turns stacks of `perf script`, leaf first, into stacks of a profile.
 *
 * Stacks that beamflame wrote get their original form: escapes are undone, and the frames that say
 * who ran are marks. In all other stacks the root is the name of the thread. Symbols have the form
 * of stackcollapse-perf.pl: without offset, arguments and quotes, with the module's name in
 * brackets if there is no symbol. "a->b" becomes two frames, of which the second is inlined
 * ("b_[i]"). Unlike in stackcollapse-perf.pl, "operator->" is one frame, and "(anonymous
 * namespace)" stays.
 */
#pragma once

#include "profile/profile.h"
#include "util/span.h"

struct perf_stacks;

struct perf_stack {
    stack_id stack;
    uint32_t frames, unresolved;
};

/* Borrows `profile`. `own`: beamflame wrote the stacks. */
struct perf_stacks *perf_stacks_new(struct profile *profile, bool own);
void perf_stacks_free(struct perf_stacks *stacks);

/* Read the stack whose frames are the lines of `text`, each with its line end. Stacks of other
 * programs get a root for `comm`. Returns 0, or the number of the first line that is no frame, from
 * 1 on. */
uint64_t perf_stacks_read(struct perf_stacks *stacks, struct span text, string_id comm,
                          struct perf_stack *ret_stack);

/* Guesses the kind of a frame from its text. */

/* The only frame that beamflame writes if there is no stack. */
#define NO_STACK "[no stack]"

/* The kind by the code's address and perf's dso (`module`). */
enum frame_kind perf_stack_kind_of_code(uint64_t address, struct span module);

/* The kind by the text alone. */
enum frame_kind perf_stack_kind_of_text(struct span text);
