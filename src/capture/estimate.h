// SPDX-License-Identifier: Apache-2.0
/*
 * A total from windows, and how far off it may be.
 *
 * Windows stand for the strata that they lie in. The last stratum may reach beyond the end, or have
 * had no window yet; as the time that there was is known, what is scaled is set against it: a load
 * that is steady comes out right however few windows there were.
 *
 * One window in each stratum gives no variance of its own; neighbours do, taken as if they were
 * alike: successive differences (Wolter, Introduction to Variance Estimation, chapter 8). Where
 * neighbours are not alike the error comes out too large.
 */
#pragma once

#include <stdint.h>

struct estimate {
    double seen_ns, represented_ns; /* of all */
    double exact, exact_ns;         /* of windows that stand for themselves */
    /* Of the others: */
    uint64_t windows;
    double scaled, scaled_ns;
    double differences; /* weighted squares of the differences of neighbours' rates */
    double last_rate;
};

/* In `seen_ns`, which stand for `represents_ns`, the value grew by `value`. */
void estimate_add(struct estimate *estimate, double seen_ns, double represents_ns, double value);

/* The total of `span_ns`. */
double estimate_total(const struct estimate *estimate, double span_ns);

/* Half of the interval that holds the true total with 95 %: 0 where all was seen, NAN where there
 * are too few windows to tell. */
double estimate_error(const struct estimate *estimate, double span_ns);
