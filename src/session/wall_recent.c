// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "session/wall.h"
#include "util/alloc.h"

enum { PLACES = 1 << 10 };

void wall_recent_free(struct wall_recent *recent)
{
    free(recent->of);
    *recent = (struct wall_recent){0};
}

void wall_recent_put(struct wall_recent *recent, const struct sample *sample)
{
    if (!recent->of)
        recent->of = xcalloc(PLACES, sizeof(*recent->of));
    recent->of[sample->process % PLACES] = *sample;
}

const struct sample *wall_recent_get(const struct wall_recent *recent, process_id process)
{
    const struct sample *sample = recent->of ? &recent->of[process % PLACES] : NULL;

    return sample && sample->process == process ? sample : NULL;
}

void wall_recent_move(struct wall_recent *recent, uint64_t since, struct profile_remap *remap)
{
    struct wall_recent before = *recent;

    *recent = (struct wall_recent){0};
    for (size_t i = 0; before.of && i < PLACES; i++) {
        if (!before.of[i].process || before.of[i].time < since)
            continue;
        profile_remap_sample(remap, &before.of[i]);
        wall_recent_put(recent, &before.of[i]);
    }
    wall_recent_free(&before);
}
