// SPDX-License-Identifier: Apache-2.0
#include "beam/process_growth.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "vm_constants.h"

/* Processes with the same index follow each other in time. 32 bits of their pid terms (beam/pid.c)
 * distinguish them, because fewer than 2^32 processes are spawned between two sweeps. */
struct noted {
    uint64_t value;
    uint32_t index, data;
};

struct process_growth {
    struct noted *before, *now;
    size_t before_count, before_room, now_count, now_room;
    size_t at; /* in `before`: entries in front of it have lower indices than the next call */
};

struct process_growth *process_growth_new(void)
{
    return xcalloc(1, sizeof(struct process_growth));
}

void process_growth_free(struct process_growth *growth)
{
    if (!growth)
        return;
    free(growth->before);
    free(growth->now);
    free(growth);
}

void process_growth_begin(struct process_growth *growth)
{
    *growth = (struct process_growth){
        .before = growth->now,
        .before_count = growth->now_count,
        .before_room = growth->now_room,
        .now = growth->before,
        .now_room = growth->before_room,
    };
}

static void note(struct process_growth *growth, const struct noted *noted)
{
    growth->now = xgrow(growth->now, &growth->now_room, growth->now_count, sizeof(*growth->now));
    growth->now[growth->now_count++] = *noted;
}

/* The entry of this process in the last sweep; NULL if there is none. */
static const struct noted *find(struct process_growth *growth, const struct noted *noted)
{
    const struct noted *found;

    while (growth->at < growth->before_count && growth->before[growth->at].index < noted->index)
        growth->at++;
    found = &growth->before[growth->at];
    return growth->at < growth->before_count && found->index == noted->index &&
                   found->data == noted->data
               ? found
               : NULL;
}

bool process_growth_note(struct process_growth *growth, uint64_t index, uint64_t id, uint64_t value,
                         int64_t *grown)
{
    const struct noted noted = {value, (uint32_t)index, (uint32_t)(id >> TAG_IMMED1_SIZE)};
    const struct noted *before = find(growth, &noted);

    note(growth, &noted);
    *grown = (int64_t)(value - (before ? before->value : 0));
    return value != UINT64_MAX && !(before && before->value == UINT64_MAX);
}
