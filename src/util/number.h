// SPDX-License-Identifier: Apache-2.0
/* Sums and conversions of numbers that a file can make as large as it likes, and averages. */
#pragma once

#include <math.h>
#include <stdint.h>

/* Return the sum, or UINT64_MAX if that is larger. */
static inline uint64_t saturating_sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Return the number as a signed one, at most INT64_MAX. */
static inline int64_t signed_number(uint64_t number)
{
    return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

/* Return the whole part, at most UINT64_MAX; 0 for a negative number and for no number. */
static inline uint64_t whole_part(double number)
{
    if (!(number > 0))
        return 0;
    return number < 0x1p64 ? (uint64_t)number : UINT64_MAX;
}

/* Return an average with exponential decay: `average` moved towards `value`, which held for `time`.
 * A value from `memory` ago has the weight 1/e. `time` and `memory` have the same unit. */
static inline double moved_average(double average, double value, double time, double memory)
{
    return value + (average - value) * exp(-time / memory);
}
