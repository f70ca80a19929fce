// SPDX-License-Identifier: Apache-2.0
#include "util/random.h"

#include <sys/random.h>
#include <time.h>

#include "util/clock.h"

uint64_t random_word(void)
{
    uint64_t word;

    /* A container may forbid the system call. */
    if (getrandom(&word, sizeof(word), 0) != (ssize_t)sizeof(word))
        return clock_ns(CLOCK_MONOTONIC);
    return word;
}
