// SPDX-License-Identifier: Apache-2.0
/* Averages with exponential decay. */
#pragma once

#include <math.h>

/* Return `average` moved towards `value`, which held for `time`. A value from `memory` ago has the
 * weight 1/e. `time` and `memory` have the same unit. */
static inline double moved_average(double average, double value, double time, double memory)
{
    return value + (average - value) * exp(-time / memory);
}
