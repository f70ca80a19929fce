// SPDX-License-Identifier: Apache-2.0
/*
 * A read cache for small reads that are mostly near each other, such as those of the terms of a
 * process. It reads larger blocks and keeps the last one. Data from the cache is as old as that
 * block.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/memory.h"

enum { NEARBY_BYTES = 1024 }; /* divides a page: if some of it is readable, all is */

struct read_cache {
    struct memory *memory;
    uint64_t address; /* of `bytes`; 0: the cache is empty */
    uint8_t bytes[NEARBY_BYTES];
};

static inline void read_cache_init(struct read_cache *cache, struct memory *memory)
{
    cache->memory = memory;
    cache->address = 0;
}

/* As memory_read(). */
bool read_cache_read(struct read_cache *cache, uint64_t address, void *buffer, size_t size);
