// SPDX-License-Identifier: Apache-2.0
#include "util/memory_limit.h"

static uint64_t limit = MEMORY_LIMIT_DEFAULT;

uint64_t memory_limit(void)
{
    return limit;
}

void memory_limit_set(uint64_t bytes)
{
    limit = bytes;
}
