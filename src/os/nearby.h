// SPDX-License-Identifier: Apache-2.0
/*
 * Small reads of memory that mostly lie near each other, such as the terms of a process: by larger
 * ones, of which the last is kept. What is served from it is as old as that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/memory.h"

enum { NEARBY_BYTES = 1024 }; /* a part of a page: where some of it can be read, all can */

struct nearby {
    struct memory *memory;
    uint64_t address; /* of `bytes`; 0: there are none */
    uint8_t bytes[NEARBY_BYTES];
};

static inline void nearby_init(struct nearby *nearby, struct memory *memory)
{
    nearby->memory = memory;
    nearby->address = 0;
}

/* As memory_read(). */
bool nearby_read(struct nearby *nearby, uint64_t address, void *buffer, size_t size);
