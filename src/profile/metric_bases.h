// SPDX-License-Identifier: Apache-2.0
/* Metrics of each process at its newest sample in a chunk of a recording: those of the next one are
 * relative to them. All zero is none. */
#pragma once

#include "profile/profile.h"
#include "util/intern.h"

struct metric_bases {
    struct intern processes;
    struct metrics *of; /* by id - 1; a metric that was not known since has its last known value */
    uint32_t capacity;
};

/* Those of a process, all zero at first; valid until the next call. */
struct metrics *metric_bases_get(struct metric_bases *bases, process_id process);
/* Begin anew; also frees. */
void metric_bases_clear(struct metric_bases *bases);

/* `metrics` are then the newest ones. */
void metric_base_set(struct metrics *base, const struct metrics *metrics);
