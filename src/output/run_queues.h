// SPDX-License-Identifier: Apache-2.0
/*
 * How often processes came to run out of which run queue, and how long they had been in it: of
 * event sched, by the scheduler that ran them. Normal schedulers have a queue each, dirty ones of a
 * kind share one.
 */
#pragma once

#include <stdio.h>

#include "output/counts.h"
#include "profile/profile.h"
#include "util/intern.h"

struct run_queues {
    struct intern keys;
    struct counts turns, delays; /* by id in keys */
};

void run_queues_init(struct run_queues *queues);
void run_queues_free(struct run_queues *queues);

void run_queues_add(struct run_queues *queues, const struct profile *profile,
                    const struct sample *sample);

/* Those with most delay, as a table of the summary; nothing if there are none. */
void run_queues_write(FILE *file, const struct profile *profile, const struct run_queues *queues);
