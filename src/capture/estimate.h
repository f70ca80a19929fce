// SPDX-License-Identifier: Apache-2.0
/*
 * A total from windows, and how far off it may be.
 *
 * Strata with one window each give no variance of their own; neighbours do, as if they were alike
 * (Wolter, Introduction to Variance Estimation, 8.2: successive differences). Where the load is
 * not alike in neighbours, the error is overestimated.
 */
#pragma once

#include <stdint.h>

struct estimate {
    double total;      /* scaled */
    double covered_ns; /* time that was seen */
    double represented_ns;
    double variance; /* of the total */
    double last_rate;
    uint64_t windows; /* that are scaled */
};

/* A window of `seen_ns` that stands for `represents_ns`, in which the value grew by `value`. */
void estimate_add(struct estimate *estimate, double seen_ns, double represents_ns, double value);

/* Half of the 95 % confidence interval of the total; 0 if nothing was scaled, NAN if there are too
 * few windows to tell. */
double estimate_error(const struct estimate *estimate);
