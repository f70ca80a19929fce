// SPDX-License-Identifier: Apache-2.0
/*
 * A total from windows, and how far off it may be.
 *
 * Windows stand for the strata that they lie in. The last stratum may reach beyond the end, or have
 * had no window yet. And probes slow the target down, so that in a window less happens than would
 * without it. As the time that there was is known, and the work that the target did in it (in any
 * measure), what is scaled is set against the one or the other: a ratio estimate (Cochran, Sampling
 * Techniques, chapter 6). A load that is steady comes out right however few windows there were.
 *
 * One window in each stratum gives no variance of its own; neighbours do, taken as if they were
 * alike: successive differences (Wolter, Introduction to Variance Estimation, chapter 8). Where
 * neighbours are not alike the error comes out too large.
 */
#pragma once

#include <stdint.h>

struct estimate {
    double seen_ns, represented_ns; /* of all */
    /* Of windows that stand for themselves: */
    double exact, exact_ns, exact_work;
    /* Of the others: */
    uint64_t windows;
    double scaled, scaled_ns, scaled_work;
    double last_rate, last_work_rate;
    /* Weighted squares of the differences of neighbours' rates: of the value's, of both, of work's.
     */
    double differences, with_work, of_work;
};

/* What a window saw, or all of the time has. */
struct estimate_span {
    double ns;
    double work; /* 0: not known, or not what the value grows with */
};

/* In `seen`, which stands for `represents_ns`, the value grew by `value`. */
void estimate_add(struct estimate *estimate, struct estimate_span seen, double represents_ns,
                  double value);

/* The total of all that there was. */
double estimate_total(const struct estimate *estimate, struct estimate_span all);

/* How many times as much the target gets done in all of the time as in the windows that are scaled;
 * 1 where there are too few to tell. */
double estimate_slowdown(const struct estimate *estimate, struct estimate_span all);

/* Half of the interval that holds the true total with 95 %: 0 where all was seen, NAN where there
 * are too few windows to tell. */
double estimate_error(const struct estimate *estimate, struct estimate_span all);
