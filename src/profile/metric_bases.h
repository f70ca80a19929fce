// SPDX-License-Identifier: Apache-2.0
/* The metrics of each process at its newest sample in a chunk of a recording. The metrics of its
 * next sample are stored relative to them. All zero is empty. */
#pragma once

#include "profile/profile.h"
#include "util/intern.h"

struct metric_bases {
    struct intern processes;
    struct metrics *of; /* by id in `processes` - 1; an unknown metric keeps its last value */
    uint32_t capacity;
};

/* The metrics of a process, all zero at first. Valid until the next call. */
struct metrics *metric_bases_get(struct metric_bases *bases, process_id process);
/* Remove and free everything. */
void metric_bases_clear(struct metric_bases *bases);

/* Make `metrics` the newest ones of the process. */
void metric_base_set(struct metrics *base, const struct metrics *metrics);
