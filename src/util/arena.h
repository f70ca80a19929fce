// SPDX-License-Identifier: Apache-2.0
/* Many small pieces of memory that never move and are freed together. All zero is empty. */
#pragma once

#include <stddef.h>

struct arena {
    struct arena_block *newest;
    char *free;
    size_t left;
};

/* `size` bytes without alignment. */
void *arena_alloc(struct arena *arena, size_t size);
void arena_free(struct arena *arena);
