// SPDX-License-Identifier: Apache-2.0
#include "budget/windows.h"

#include <math.h>

#include "util/confidence.h"

static const uint64_t WINDOWS_MIN = 3;

/* With fewer windows of equal numbers of hits, fewer than 90 % of the intervals hold the truth:
 * simulated for loads with bursts. */
static const double EFFECTIVE_MIN = 1.25;

/* The variance of a stratum's scaled value is the variance of the rate, times the stratum's length
 * squared. The variance of the rate is half of the squared difference of two neighbours. The part
 * of the stratum that was seen is not uncertain. */
static void add_differences(struct estimate *estimate, double weight, double rate, double work_rate)
{
    double own = rate - estimate->last_rate, work = work_rate - estimate->last_work_rate;

    estimate->differences += weight * own * own / 2;
    estimate->with_work += weight * own * work / 2;
    estimate->of_work += weight * work * work / 2;
}

void estimate_add(struct estimate *estimate, struct estimate_span seen, double represents_ns,
                  double value, double hits)
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
    estimate->hits += hits;
    if (estimate->is_counted && value + seen.work > 0)
        estimate->missed += fmax(hits, 1) * fabs(value - seen.work) / fmax(value, seen.work);
    estimate->scaled_hits += hits / seen.ns * represents_ns;
    if (hits > 1)
        estimate->scaled_pairs += pow(hits / seen.ns * represents_ns, 2) * (1 - 1 / hits);
    if (hits > 0)
        estimate->chance += rate * represents_ns * rate * unseen / fmin(hits, fmax(value, 1));
    estimate->scaled_ns += represents_ns;
    estimate->scaled_work += work_rate * represents_ns;
    estimate->windows_at_work += seen.work > 0;
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

/* The amount that exact windows do not cover, divided by the amount that the scaled windows stand
 * for. */
static double rest(const struct estimate *estimate, struct estimate_span all)
{
    if (all.ns <= estimate->exact_ns)
        return 0;
    if (by_work(estimate, all))
        return (all.work - estimate->exact_work) / estimate->scaled_work;
    return (all.ns - estimate->exact_ns) / estimate->scaled_ns;
}

/* True if the target counts the value itself, and windows have seen some of it. */
static bool is_the_work(const struct estimate *estimate, struct estimate_span all)
{
    return estimate->is_counted && by_work(estimate, all) && estimate->hits > 0;
}

/* A hit that the edge of a window cuts counts in the window, and in the target's count after it, or
 * the other way round. */
static const double CUT_A_WINDOW = 2;

/* True if the target counts the value itself, and windows saw no more difference than their edges
 * explain: the target's count is the total. */
static bool is_the_count(const struct estimate *estimate, struct estimate_span all)
{
    return is_the_work(estimate, all) &&
           estimate->missed <= CUT_A_WINDOW * (double)estimate->windows;
}

double estimate_total(const struct estimate *estimate, struct estimate_span all)
{
    if (is_the_count(estimate, all) && all.ns > estimate->exact_ns)
        return estimate->exact + (all.work - estimate->exact_work);
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

/* The number of windows from which the total and its error follow. Where the value goes with the
 * work, a window without work says nothing. */
static uint64_t windows_that_tell(const struct estimate *estimate, struct estimate_span all)
{
    return by_work(estimate, all) ? estimate->windows_at_work : estimate->windows;
}

/* The same as a number of windows with equal numbers of hits. */
static double effective_windows(const struct estimate *estimate, struct estimate_span all)
{
    double windows = (double)windows_that_tell(estimate, all);

    if (estimate->scaled_pairs > 0)
        windows = fmin(windows, pow(estimate->scaled_hits, 2) / estimate->scaled_pairs);
    return windows;
}

/* The variance of the difference between the value and its part in the work, from `n` windows. */
static double variance(const struct estimate *estimate, struct estimate_span all, double n)
{
    double part = by_work(estimate, all) ? estimate->scaled / estimate->scaled_work : 0;
    double differences =
        estimate->differences - 2 * part * estimate->with_work + part * part * estimate->of_work;

    return fmax(differences, 0) * n / (n - 1);
}

/* The part of the units of work that have a hit, where the value is the number of hits and a unit
 * of work has at most one. It is always less than 1. Even if each unit that was seen had a hit, as
 * many other units may contain about 3 without one (the rule of three), and each window may end
 * between a unit and its hit. */
static double part_of_work(const struct estimate *estimate, struct estimate_span all)
{
    if (!by_work(estimate, all) || estimate->scaled != estimate->scaled_hits)
        return 0;
    return fmin(estimate->scaled_hits / estimate->scaled_work, 1) * estimate->hits /
           (estimate->hits + 2 + (double)estimate->windows);
}

/* Half of the interval that follows from the number of hits alone, as if all hits were equal. If
 * the target counts the value itself, only those hits are uncertain that the target does not count,
 * or counts in another window. */
static double error_by_chance(const struct estimate *estimate, struct estimate_span all)
{
    double variance = estimate->chance * (1 - part_of_work(estimate, all)), hits;

    if (is_the_work(estimate, all))
        return estimate->scaled * confidence_poisson_half(estimate->missed) / estimate->hits;
    if (variance <= 0)
        return 0;
    hits = estimate->scaled * estimate->scaled / variance;
    return estimate->scaled * confidence_poisson_half(hits) / hits;
}

/* True if only exact windows saw hits, and the target may have had more outside of them: it worked
 * there, or its work is unknown. Windows without hits do not tell how much a hit would be. */
static bool is_exact_alone(const struct estimate *estimate, struct estimate_span all)
{
    bool is_all = all.work > 0 && all.work <= estimate->exact_work;

    return estimate->exact > 0 && !(estimate->scaled > 0) && !is_all;
}

/* Half of the interval that follows from how windows differ; NAN if they are too few to tell. */
static double error_by_windows(const struct estimate *estimate, struct estimate_span all)
{
    double windows = effective_windows(estimate, all);

    if (windows_that_tell(estimate, all) < WINDOWS_MIN)
        return NAN;
    if (windows < EFFECTIVE_MIN && !is_the_work(estimate, all))
        return NAN;
    windows = fmax(windows, 2); /* the least that has an error */
    return confidence_errors(windows) * sqrt(variance(estimate, all, windows));
}

double estimate_error(const struct estimate *estimate, struct estimate_span all)
{
    double by_windows = error_by_windows(estimate, all);

    if (all.ns <= estimate->exact_ns)
        return 0;
    if (is_unseen(estimate, all) || is_exact_alone(estimate, all) ||
        (isnan(by_windows) && !is_the_work(estimate, all)))
        return NAN;
    /* Without a number, fmax() returns the other one. */
    return fmax(by_windows, error_by_chance(estimate, all)) * rest(estimate, all);
}
