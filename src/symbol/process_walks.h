// SPDX-License-Identifier: Apache-2.0
/*
 * Adds the metrics that need a walk through a process (process_walk_metrics()) to samples.
 *
 * A process is walked once a second, or less often if there are so many processes that the reads of
 * a second are not enough for all. At its other samples these metrics stay unknown.
 */
#pragma once

#include <stdint.h>

#include "beam/vm.h"
#include "profile/metrics.h"

struct process_walks;

/* Borrows `vm`. */
struct process_walks *process_walks_new(struct vm *vm);
void process_walks_free(struct process_walks *walks);

/* Add the unknown metrics to those of a sample. `id`: pid term of the process at `address`. */
void process_walks_add(struct process_walks *walks, uint64_t address, uint64_t id, uint64_t time,
                       struct metrics *metrics);
