// SPDX-License-Identifier: Apache-2.0
#include "util/arena.h"

#include <stdlib.h>

#include "util/alloc.h"

#define ARENA_BLOCK ((size_t)64 << 10)

struct arena_block {
    struct arena_block *older;
    char data[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
    void *data;

    if (size > arena->left) {
        size_t room = size > ARENA_BLOCK ? size : ARENA_BLOCK;
        struct arena_block *block = xmalloc(sizeof(*block) + room);

        block->older = arena->newest;
        arena->newest = block;
        arena->free = block->data;
        arena->left = room;
    }
    data = arena->free;
    arena->free += size;
    arena->left -= size;
    return data;
}

void arena_free(struct arena *arena)
{
    while (arena->newest) {
        struct arena_block *block = arena->newest;

        arena->newest = block->older;
        free(block);
    }
    *arena = (struct arena){0};
}
