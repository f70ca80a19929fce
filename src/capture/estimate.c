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
    estimate->seen_ns += seen_ns;
    estimate->represented_ns += represents_ns;
    if (unseen <= 0) {
        estimate->exact += value;
        estimate->exact_ns += seen_ns;
        return;
    }
    estimate->scaled += rate * represents_ns;
    estimate->scaled_ns += represents_ns;
    if (estimate->windows++ > 0) {
        double difference = rate - estimate->last_rate;

        estimate->differences += unseen * represents_ns * difference * difference / 2;
    }
    estimate->last_rate = rate;
}

/* The time that was not seen as a whole. */
static double rest_ns(const struct estimate *estimate, double span_ns)
{
    return fmax(span_ns - estimate->exact_ns, 0);
}

double estimate_total(const struct estimate *estimate, double span_ns)
{
    double rest = rest_ns(estimate, span_ns);

    if (estimate->windows > 0)
        return estimate->exact + estimate->scaled / estimate->scaled_ns * rest;
    if (estimate->exact_ns > 0)
        return estimate->exact + estimate->exact / estimate->exact_ns * rest;
    return 0;
}

/* The number of standard errors on each side that hold 95 %: Student's t with the degrees of freedom
 * that n - 1 differences of neighbours have, which are not independent; by the expansion of Cornish
 * and Fisher (Abramowitz and Stegun 26.7.5). */
static double errors_of_95_percent(double n)
{
    const double z = 1.959964, freedom = 2 * (n - 1) * (n - 1) / (3 * n - 4);

    return z + (pow(z, 3) + z) / (4 * freedom) +
           (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * pow(freedom, 2)) +
           (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * pow(freedom, 3));
}

double estimate_error(const struct estimate *estimate, double span_ns)
{
    double n = (double)estimate->windows, rest = rest_ns(estimate, span_ns);

    if (rest <= 0)
        return 0;
    if (estimate->windows < WINDOWS_MIN)
        return NAN;
    return errors_of_95_percent(n) * sqrt(estimate->differences * n / (n - 1)) * rest /
           estimate->scaled_ns;
}
