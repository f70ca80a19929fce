// SPDX-License-Identifier: Apache-2.0
/* Averages that forget. */
#pragma once

#include <math.h>

/* Move `average` to `value`, which held for `time`: what is `memory` ago weighs 1/e. */
static inline double moved_average(double average, double value, double time, double memory)
{
    return value + (average - value) * exp(-time / memory);
}
