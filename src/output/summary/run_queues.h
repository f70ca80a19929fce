// SPDX-License-Identifier: Apache-2.0
/*
 * Run queues, from samples of event sched: how often a process left a queue to run, and how long it
 * was in the queue. The scheduler that ran the process determines the queue: a normal scheduler has
 * its own queue, dirty schedulers of a kind share one.
 */
#pragma once

#include <stdio.h>

#include "output/counts.h"
#include "profile/profile.h"
#include "util/intern.h"

struct run_queues {
    struct intern keys;
    struct counts turns, delays, samples; /* by id in keys */
};

void run_queues_init(struct run_queues *queues);
void run_queues_free(struct run_queues *queues);

/* `is_of_hit`: the sample is of the same hit as the one before, and does not count again. */
void run_queues_add(struct run_queues *queues, const struct profile *profile,
                    const struct sample *sample, bool is_of_hit);

/* Write the queues with the most delay as a table of the summary; nothing if none has a delay. */
void run_queues_write(FILE *file, const struct profile *profile, const struct run_queues *queues);
