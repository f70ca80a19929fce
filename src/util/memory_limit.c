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

uint64_t memory_limit_of_outputs(void)
{
    return 4 * limit + (UINT64_C(1) << 30);
}
