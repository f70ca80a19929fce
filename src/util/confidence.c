// SPDX-License-Identifier: Apache-2.0
#include "util/confidence.h"

#include <math.h>

/* The expansion of Cornish and Fisher (Abramowitz and Stegun 26.7.5). The n - 1 differences of
 * neighbours are not independent, so the degrees of freedom are fewer. */
double confidence_errors(double n)
{
    const double z = NORMAL_95_PERCENT, freedom = 2 * (n - 1) * (n - 1) / (3 * n - 4);

    return z + (pow(z, 3) + z) / (4 * freedom) +
           (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * pow(freedom, 2)) +
           (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * pow(freedom, 3));
}

/* The upper limit is a percentile of a gamma distribution (Garwood, Biometrika 28, 1936), by the
 * approximation of Wilson and Hilferty (Abramowitz and Stegun 26.4.17). It is right within 1 %. */
double confidence_poisson_half(double count)
{
    const double next = count + 1;

    return next * pow(1 - 1 / (9 * next) + NORMAL_95_PERCENT / (3 * sqrt(next)), 3) - count;
}
