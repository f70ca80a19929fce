// SPDX-License-Identifier: Apache-2.0
/* The time of a clock as one number. */
#pragma once

#include <stdint.h>
#include <time.h>

/* Return the time of `clock` in ns. clock_gettime(2) can't fail for the clocks that this program
 * uses. */
static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}
