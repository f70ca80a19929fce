// SPDX-License-Identifier: Apache-2.0
#include "recording/recording_internal.h"

#include <stdlib.h>

#include "util/alloc.h"

void record_base_reset(struct record_base *base)
{
    intern_free(&base->processes);
    free(base->metrics);
    *base = (struct record_base){0};
}

struct metrics *record_base_metrics(struct record_base *base, process_id process)
{
    uint32_t known, id;

    if (!base->processes.entry_size)
        intern_init(&base->processes, sizeof(process), sizeof(process));
    known = base->processes.count;
    id = intern_add(&base->processes, &process);
    if (id > base->metrics_room) {
        base->metrics_room = base->processes.capacity;
        base->metrics = xreallocarray(base->metrics, base->metrics_room, sizeof(*base->metrics));
    }
    if (id > known)
        base->metrics[id - 1] = (struct metrics){0};
    return &base->metrics[id - 1];
}

void record_base_set_metrics(struct metrics *base, const struct metrics *metrics)
{
    base->known = metrics->known;
    for (int i = 0; i < METRICS; i++) {
        if (metrics_know(metrics, (enum metric)i))
            base->values[i] = metrics->values[i];
    }
}
