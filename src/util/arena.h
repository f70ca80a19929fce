// SPDX-License-Identifier: Apache-2.0
/* Many small allocations that never move and are freed together. An arena of zeros is empty. */
#pragma once

#include <stddef.h>

struct arena {
    struct arena_block *newest;
    char *free;
    size_t left;
};

/* Return `size` bytes, not aligned. */
void *arena_alloc(struct arena *arena, size_t size);
void arena_free(struct arena *arena);
