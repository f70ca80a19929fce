// SPDX-License-Identifier: Apache-2.0
#include "agent/first_interval.h"

/* The shortest interval of the configuration, in seconds. */
static const double LEAST = 1;

double first_interval(double interval, uint64_t random)
{
    double share = (double)random / (double)UINT64_MAX;

    return interval > LEAST ? LEAST + share * (interval - LEAST) : interval;
}
