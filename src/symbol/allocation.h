// SPDX-License-Identifier: Apache-2.0
/*
 * Who allocates, between garbage collections.
 *
 * Where the heap is full all that a process has allocated since the last collection is known, but
 * not by whom: it would be charged to the function that filled it, and one that allocates while its
 * stack shrinks (a body-recursive list function on its way back) never does, for stack and heap
 * grow towards each other. So what CPU samples see of the heap's top is charged to their stacks,
 * and a probe's hit is charged with the rest: sums stay what they are.
 */
#pragma once

#include "beam/code.h"
#include "beam/vm.h"
#include "symbol/snapshot.h"

struct allocation;

/* Both borrowed. */
struct allocation *allocation_new(const struct vm *vm, struct code *code);
void allocation_free(struct allocation *allocation);

/* At a CPU sample: words that its process has allocated since it was last seen here, or since its
 * last collection. 0 where that can't be told. */
uint64_t allocation_at_sample(struct allocation *allocation, const struct snapshot *snapshot);

/* At a hit of a probe that charges all words so far, as at the beginning of a collection: words of
 * those which samples were charged with since the last one. */
uint64_t allocation_at_hit(struct allocation *allocation, const struct snapshot *snapshot);
