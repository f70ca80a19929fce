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

struct nearby {
    struct memory *memory;
    uint64_t address; /* of `bytes`; 0: the cache is empty */
    uint8_t bytes[NEARBY_BYTES];
};

static inline void nearby_init(struct nearby *nearby, struct memory *memory)
{
    nearby->memory = memory;
    nearby->address = 0;
}

/* As memory_read(). */
bool nearby_read(struct nearby *nearby, uint64_t address, void *buffer, size_t size);
