// SPDX-License-Identifier: Apache-2.0
#include "agent/http/slow_requests.h"

#include <stdatomic.h>

static _Atomic int taken;

bool slow_requests_enter(void)
{
    if (atomic_fetch_add(&taken, 1) < SLOW_REQUESTS)
        return true;
    slow_requests_leave();
    return false;
}

void slow_requests_leave(void)
{
    atomic_fetch_sub(&taken, 1);
}
