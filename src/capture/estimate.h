// SPDX-License-Identifier: Apache-2.0
/*
 * A total from windows, and how far off it may be.
 *
 * One window in each stratum gives no variance of its own; neighbours do, taken as if they were
 * alike: successive differences (Wolter, Introduction to Variance Estimation, chapter 8). Where
 * neighbours are not alike the error comes out too large.
 */
#pragma once

#include <stdint.h>

struct estimate {
    double total; /* scaled */
    double seen_ns, represented_ns;
    /* Of what is scaled: */
    uint64_t windows;
    double differences; /* weighted squares of the differences of neighbours' rates */
    double last_rate;
};

/* In `seen_ns`, which stand for `represents_ns`, the value grew by `value`. */
void estimate_add(struct estimate *estimate, double seen_ns, double represents_ns, double value);

/* Half of the interval that holds the true total with 95 %: 0 where nothing was scaled, NAN where
 * there are too few windows to tell. */
double estimate_error(const struct estimate *estimate);
