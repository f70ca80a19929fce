// SPDX-License-Identifier: Apache-2.0
/*
 * Attributes heap allocations between garbage collections to stacks.
 *
 * When the heap is full, the number of words that a process has allocated since its last collection
 * is known, but not which functions allocated them. A probe there would charge all words to the
 * function that filled the heap. Stack and heap grow towards each other. So a function that
 * allocates while its stack shrinks, such as a body-recursive list function that returns, never
 * fills the heap.
 *
 * So each CPU sample charges the growth of the heap's top to its own stack, and a probe's hit is
 * charged with the remaining words. The sums do not change.
 */
#pragma once

#include "beam/code.h"
#include "beam/vm.h"
#include "symbol/snapshot.h"

struct allocation;

/* Borrows both. */
struct allocation *allocation_new(const struct vm *vm, struct code *code);
void allocation_free(struct allocation *allocation);

/* The words to charge to a CPU sample: what its process has allocated since it was last seen here,
 * or since its last collection. 0 if unknown. */
uint64_t allocation_at_sample(struct allocation *allocation, const struct snapshot *snapshot);

/* For a hit of a probe that charges all words since the last collection, such as the probe at the
 * beginning of a collection. Returns how many of these words were already charged to samples. */
uint64_t allocation_at_hit(struct allocation *allocation, const struct snapshot *snapshot);
