// SPDX-License-Identifier: Apache-2.0
/*
 * Metrics of processes that take a walk (process_metrics_walk()), at samples: of a process once a
 * second, or less often where there are so many that the reads of a second do not last for all; at
 * its other samples they stay unknown.
 */
#pragma once

#include <stdint.h>

#include "beam/vm.h"
#include "profile/metrics.h"

struct process_walks;

/* Borrowed. */
struct process_walks *process_walks_new(struct vm *vm);
void process_walks_free(struct process_walks *walks);

/* Add to the metrics of a sample what is not known. `id`: pid term of the process at `address`. */
void process_walks_add(struct process_walks *walks, uint64_t address, uint64_t id, uint64_t time,
                       struct metrics *metrics);
