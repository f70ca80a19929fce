// SPDX-License-Identifier: Apache-2.0
#include "os/nearby.h"

#include <string.h>

static bool has(const struct nearby *nearby, uint64_t address, size_t size)
{
    return nearby->address && address >= nearby->address && size <= NEARBY_BYTES &&
           address - nearby->address <= NEARBY_BYTES - size;
}

bool nearby_read(struct nearby *nearby, uint64_t address, void *buffer, size_t size)
{
    uint64_t start = address & ~(uint64_t)(NEARBY_BYTES - 1);

    if (!has(nearby, address, size)) {
        if (address - start + size > NEARBY_BYTES)
            return memory_read(nearby->memory, address, buffer, size);
        nearby->address = 0;
        if (!memory_read(nearby->memory, start, nearby->bytes, NEARBY_BYTES))
            return memory_read(nearby->memory, address, buffer, size);
        nearby->address = start;
    }
    memcpy(buffer, nearby->bytes + (address - nearby->address), size);
    return true;
}
