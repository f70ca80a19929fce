// SPDX-License-Identifier: Apache-2.0
#include "util/id_index.h"

#include <stdlib.h>

#include "util/alloc.h"

#define ID_INDEX_FIRST 64

void id_index_free(struct id_index *index)
{
    free(index->slots);
    *index = (struct id_index){0};
}

static void id_index_put(struct id_index *index, struct id_slot slot)
{
    size_t at = slot.hash & index->mask;

    while (index->slots[at].id)
        at = (at + 1) & index->mask;
    index->slots[at] = slot;
}

static void id_index_grow(struct id_index *index)
{
    struct id_index old = *index;
    size_t size = old.slots ? (old.mask + 1) * 2 : ID_INDEX_FIRST;

    index->slots = xcalloc(size, sizeof(*index->slots));
    index->mask = size - 1;
    for (size_t i = 0; old.slots && i <= old.mask; i++)
        if (old.slots[i].id)
            id_index_put(index, old.slots[i]);
    free(old.slots);
}

void id_index_add(struct id_index *index, uint64_t hash, uint32_t id)
{
    if (!index->slots || (index->used + 1) * 3 > (index->mask + 1) * 2)
        id_index_grow(index);
    id_index_put(index, (struct id_slot){(uint32_t)hash, id});
    index->used++;
}
