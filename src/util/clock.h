// SPDX-License-Identifier: Apache-2.0
/* Clocks as one number. */
#pragma once

#include <stdint.h>
#include <time.h>

/* ns by a clock of clock_gettime(2), which can't fail for those the program asks for. */
static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}
