// SPDX-License-Identifier: Apache-2.0
#include "os/read_cache.h"

#include <string.h>

static bool has(const struct read_cache *cache, uint64_t address, size_t size)
{
    return cache->address && address >= cache->address && size <= NEARBY_BYTES &&
           address - cache->address <= NEARBY_BYTES - size;
}

bool read_cache_read(struct read_cache *cache, uint64_t address, void *buffer, size_t size)
{
    uint64_t start = address & ~(uint64_t)(NEARBY_BYTES - 1);

    if (!has(cache, address, size)) {
        if (address - start + size > NEARBY_BYTES)
            return memory_read(cache->memory, address, buffer, size);
        cache->address = 0;
        if (!memory_read(cache->memory, start, cache->bytes, NEARBY_BYTES))
            return memory_read(cache->memory, address, buffer, size);
        cache->address = start;
    }
    memcpy(buffer, cache->bytes + (address - cache->address), size);
    return true;
}
