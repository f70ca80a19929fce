// SPDX-License-Identifier: Apache-2.0
#include "recording/recording_internal.h"

#include <stdlib.h>

#include "util/alloc.h"

struct reorder_item {
    struct sample sample;
    uint64_t sequence;
};

void reorder_free(struct reorder *reorder)
{
    free(reorder->items);
}

static bool before(const struct reorder_item *a, const struct reorder_item *b)
{
    if (a->sample.time != b->sample.time)
        return a->sample.time < b->sample.time;
    return a->sequence < b->sequence;
}

void reorder_push(struct reorder *reorder, const struct sample *sample)
{
    struct reorder_item item = {*sample, reorder->sequence++};
    size_t at = reorder->count++;

    if (item.sample.time < reorder->last) {
        item.sample.time = reorder->last;
        reorder->late++;
    }
    if (item.sample.time > reorder->newest)
        reorder->newest = item.sample.time;
    if (reorder->count > reorder->capacity) {
        reorder->capacity = reorder->capacity ? reorder->capacity * 2 : 256;
        reorder->items = xreallocarray(reorder->items, reorder->capacity, sizeof(item));
    }
    for (size_t up; at && before(&item, &reorder->items[up = (at - 1) / 2]); at = up)
        reorder->items[at] = reorder->items[up];
    reorder->items[at] = item;
}

/* True if a sample older than the oldest one may still come. */
static bool is_early(const struct reorder *reorder)
{
    uint64_t oldest = reorder->items[0].sample.time;

    return reorder->newest - oldest < REORDER_NS || oldest > reorder->wait_for;
}

bool reorder_pop(struct reorder *reorder, bool all, struct sample *ret_sample)
{
    struct reorder_item *items = reorder->items, item;
    size_t at = 0, down;

    if (!reorder->count)
        return false;
    if (!all && reorder->count < REORDER_MAX && is_early(reorder))
        return false;
    *ret_sample = items[0].sample;
    reorder->last = items[0].sample.time;
    item = items[--reorder->count];
    while ((down = at * 2 + 1) < reorder->count) {
        if (down + 1 < reorder->count && before(&items[down + 1], &items[down]))
            down++;
        if (!before(&items[down], &item))
            break;
        items[at] = items[down];
        at = down;
    }
    items[at] = item;
    return true;
}
