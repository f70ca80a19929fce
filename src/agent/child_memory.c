// SPDX-License-Identifier: Apache-2.0
#include "agent/child_memory.h"

#include "os/own_limits.h"

static uint64_t group = UINT64_MAX;

void child_memory_look(void)
{
    group = own_limits_group_memory();
}

uint64_t child_memory(void)
{
    uint64_t share = group / CHILD_MEMORY_SHARE, most = (uint64_t)CHILD_MEMORY_MB << 20;

    return share < most ? share : most;
}
