// SPDX-License-Identifier: Apache-2.0
/*
 * The processes of a VM with the largest of a metric, or those of which it has grown most since
 * they were found before: found by a sweep of all structs, without stacks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/process_sweep.h"
#include "profile/metrics.h"

enum { TOP_MAX = 1000000 };

struct process_top;

/* Whether the struct of a process tells this metric: only by such ones can be ranked. */
bool process_top_ranks(enum metric metric);

/* To find `count` of them, 1 to TOP_MAX. */
struct process_top *process_top_new(size_t count, enum metric metric, bool by_growth);
void process_top_free(struct process_top *top);

/* Find them as they are now, instead of those that were found before; adds to *counts what was
 * looked at. Of a process that was not there before all that it has counts as growth, as of all of
 * them the first time. Those of which it is not known do not rank. Returns 0, or -1 with error. */
int process_top_find(struct process_top *top, struct vm *vm, struct process_sweep *sweep,
                     struct sweep_counts *counts, struct error *error);

/* Their indices in the table, ascending: *count of them, valid until they are found again. */
const uint64_t *process_top_indices(const struct process_top *top, size_t *count);

/* What the process with this pid term was found with, or has grown by; false if it was not found.
 */
bool process_top_value(const struct process_top *top, uint64_t id, int64_t *value);
