// SPDX-License-Identifier: Apache-2.0
#include "capture/estimate.h"

#include <math.h>

static const uint64_t WINDOWS_MIN = 5;

/* The variance of a stratum's scaled value is that of the rate times its length squared; that of
 * the rate, half of what two neighbours differ by, squared. What was seen of the stratum is not
 * uncertain. */
void estimate_add(struct estimate *estimate, double seen_ns, double represents_ns, double value)
{
    double rate = value / seen_ns, unseen = represents_ns - seen_ns;

    if (seen_ns <= 0)
        return;
    estimate->total += rate * represents_ns;
    estimate->seen_ns += seen_ns;
    estimate->represented_ns += represents_ns;
    if (unseen <= 0)
        return;
    if (estimate->windows++ > 0) {
        double difference = rate - estimate->last_rate;

        estimate->differences += unseen * represents_ns * difference * difference / 2;
    }
    estimate->last_rate = rate;
}

double estimate_error(const struct estimate *estimate)
{
    double n = (double)estimate->windows;

    if (estimate->windows == 0)
        return 0;
    if (estimate->windows < WINDOWS_MIN)
        return NAN;
    return 1.96 * sqrt(estimate->differences * n / (n - 1));
}
