// SPDX-License-Identifier: Apache-2.0
/* The time of a clock as one number. */
#pragma once

#include <stdint.h>
#include <time.h>

/* Return the ns from `start` to `time`; 0 if `time` is earlier. */
static inline uint64_t clock_since(uint64_t start, uint64_t time)
{
    return time > start ? time - start : 0;
}

/* Return the time of `clock` in ns. clock_gettime(2) can't fail for the clocks that this program
 * uses. */
static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}
