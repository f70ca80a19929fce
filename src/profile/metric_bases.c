// SPDX-License-Identifier: Apache-2.0
#include "profile/metric_bases.h"

#include <stdlib.h>

#include "util/alloc.h"

struct metrics *metric_bases_get(struct metric_bases *bases, process_id process)
{
    uint32_t known, id;

    if (!bases->processes.entry_size)
        intern_init(&bases->processes, sizeof(process), sizeof(process));
    known = bases->processes.count;
    id = intern_add(&bases->processes, &process);
    if (id > bases->capacity) {
        bases->capacity = bases->processes.capacity;
        bases->of = xreallocarray(bases->of, bases->capacity, sizeof(*bases->of));
    }
    if (id > known)
        bases->of[id - 1] = (struct metrics){0};
    return &bases->of[id - 1];
}

void metric_bases_clear(struct metric_bases *bases)
{
    intern_free(&bases->processes);
    free(bases->of);
    *bases = (struct metric_bases){0};
}

void metric_base_set(struct metrics *base, const struct metrics *metrics)
{
    base->known = metrics->known;
    for (int i = 0; i < METRICS; i++) {
        if (metrics_know(metrics, (enum metric)i))
            base->values[i] = metrics->values[i];
    }
}
