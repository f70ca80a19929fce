// SPDX-License-Identifier: Apache-2.0
#include "profile/memory_use.h"

uint64_t allocator_carriers(const struct allocator *allocator)
{
    return allocator->multi + allocator->single + allocator->pooled;
}

struct allocator allocators_total(const struct allocators *allocators)
{
    struct allocator total = {.name = ""};

    for (size_t i = 0; i < allocators->count; i++) {
        const struct allocator *one = &allocators->of[i];

        total.instances += one->instances;
        total.multi += one->multi;
        total.single += one->single;
        total.pooled += one->pooled;
        total.blocks += one->blocks;
        total.allocated += one->allocated;
    }
    return total;
}
