// SPDX-License-Identifier: Apache-2.0
/*
 * The processes of a VM with the highest values of a metric, or with the highest growth of a metric
 * since the last search. A sweep over all structs, without stacks, finds them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/process_sweep.h"
#include "profile/metrics.h"

enum { TOP_MAX = 1000000 };

struct process_top;

/* True if processes can be ranked by this metric: their structs alone must determine it. */
bool process_top_ranks(enum metric metric);

/* `count`: the number of processes to find, 1 to TOP_MAX. */
struct process_top *process_top_new(size_t count, enum metric metric, bool by_growth);
void process_top_free(struct process_top *top);

/* Find the processes as they are now; they replace those found before. Adds the sweep's counts to
 * *counts. The growth of a new process is its whole value; in the first search that holds for all
 * processes. Processes with an unknown value are not ranked. Returns 0, or -1 with error. */
int process_top_find(struct process_top *top, struct vm *vm, struct process_sweep *sweep,
                     struct sweep_counts *counts, struct error *error);

/* The table indices of the found processes, ascending. Fills *count. Valid until the next
 * search. */
const uint64_t *process_top_indices(const struct process_top *top, size_t *count);

/* The value or growth with which the process with this pid term was found; false if it was not
 * found. */
bool process_top_value(const struct process_top *top, uint64_t id, int64_t *value);
