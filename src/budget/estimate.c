// SPDX-License-Identifier: Apache-2.0
#include "budget/estimate.h"

#include <math.h>
#include <stdbool.h>

static const uint64_t WINDOWS_MIN = 3;

/* The variance of a stratum's scaled value is that of the rate times its length squared. The
 * variance of the rate is half of the squared difference of two neighbours. The part of the stratum
 * that was seen is not uncertain. */
static void add_differences(struct estimate *estimate, double weight, double rate, double work_rate)
{
    double own = rate - estimate->last_rate, work = work_rate - estimate->last_work_rate;

    estimate->differences += weight * own * own / 2;
    estimate->with_work += weight * own * work / 2;
    estimate->of_work += weight * work * work / 2;
}

void estimate_add(struct estimate *estimate, struct estimate_span seen, double represents_ns,
                  double value)
{
    double rate = value / seen.ns, work_rate = seen.work / seen.ns;
    double unseen = represents_ns - seen.ns;

    if (seen.ns <= 0)
        return;
    estimate->seen_ns += seen.ns;
    estimate->represented_ns += represents_ns;
    if (unseen <= 0) {
        estimate->exact += value;
        estimate->exact_ns += seen.ns;
        estimate->exact_work += seen.work;
        return;
    }
    estimate->scaled += rate * represents_ns;
    estimate->scaled_ns += represents_ns;
    estimate->scaled_work += work_rate * represents_ns;
    if (estimate->windows++ > 0)
        add_differences(estimate, unseen * represents_ns, rate, work_rate);
    estimate->last_rate = rate;
    estimate->last_work_rate = work_rate;
}

static bool by_work(const struct estimate *estimate, struct estimate_span all)
{
    return estimate->scaled_work > 0 && all.work > estimate->exact_work;
}

/* True if the target worked outside of exact windows, but in no scaled window. */
static bool is_unseen(const struct estimate *estimate, struct estimate_span all)
{
    return !(estimate->scaled_work > 0) && !(estimate->scaled > 0) &&
           all.work > estimate->exact_work && all.ns > estimate->exact_ns;
}

/* What exact windows do not cover, in relation to what the scaled windows stand for. */
static double rest(const struct estimate *estimate, struct estimate_span all)
{
    if (all.ns <= estimate->exact_ns)
        return 0;
    if (by_work(estimate, all))
        return (all.work - estimate->exact_work) / estimate->scaled_work;
    return (all.ns - estimate->exact_ns) / estimate->scaled_ns;
}

double estimate_total(const struct estimate *estimate, struct estimate_span all)
{
    if (is_unseen(estimate, all) && estimate->exact_work > 0)
        return estimate->exact * (all.work / estimate->exact_work);
    if (estimate->windows > 0)
        return estimate->exact + estimate->scaled * rest(estimate, all);
    if (estimate->exact_ns > 0 && all.ns > estimate->exact_ns)
        return estimate->exact * (all.ns / estimate->exact_ns);
    return estimate->exact;
}

double estimate_slowdown(const struct estimate *estimate, struct estimate_span all)
{
    double rest_ns = all.ns - estimate->exact_ns;

    if (estimate->windows < WINDOWS_MIN || rest_ns <= 0 || !by_work(estimate, all))
        return 1;
    return (all.work - estimate->exact_work) / rest_ns * estimate->scaled_ns /
           estimate->scaled_work;
}

/* The number of standard errors on each side of a 95 % interval: Student's t. The n - 1 differences
 * of neighbours are not independent, so the degrees of freedom are fewer. Computed by the expansion
 * of Cornish and Fisher (Abramowitz and Stegun 26.7.5). */
static double errors_of_95_percent(double n)
{
    const double z = 1.959964, freedom = 2 * (n - 1) * (n - 1) / (3 * n - 4);

    return z + (pow(z, 3) + z) / (4 * freedom) +
           (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * pow(freedom, 2)) +
           (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * pow(freedom, 3));
}

/* The variance of the difference between the value and its part in the work. */
static double variance(const struct estimate *estimate, struct estimate_span all)
{
    double n = (double)estimate->windows;
    double part = by_work(estimate, all) ? estimate->scaled / estimate->scaled_work : 0;
    double differences =
        estimate->differences - 2 * part * estimate->with_work + part * part * estimate->of_work;

    return fmax(differences, 0) * n / (n - 1);
}

double estimate_error(const struct estimate *estimate, struct estimate_span all)
{
    if (all.ns <= estimate->exact_ns)
        return 0;
    if (estimate->windows < WINDOWS_MIN || is_unseen(estimate, all))
        return NAN;
    return errors_of_95_percent((double)estimate->windows) * sqrt(variance(estimate, all)) *
           rest(estimate, all);
}
