// SPDX-License-Identifier: Apache-2.0
/*
 * The windows of a group of probes, and so the scale of a hit.
 *
 * The log keeps the latest windows. Hits are at most some hundred ms old when their scale is
 * requested.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "log_histogram.h"

enum { WINDOW_LOG_LENGTH = 256 };

struct logged_window {
    uint64_t start, end; /* end: UINT64_MAX while the window is open */
    uint64_t represents; /* ns; known of closed windows that are not continuous */
    bool continuous;     /* the scale of hits is 1 */
};

struct window_log {
    struct logged_window windows[WINDOW_LOG_LENGTH];
    uint64_t count; /* number of all windows so far; the latest is windows[(count - 1) %
                     * WINDOW_LOG_LENGTH] */
};

void window_log_open(struct window_log *log, uint64_t start, bool continuous);
void window_log_close(struct window_log *log, uint64_t end, uint64_t represents);

enum window_answer {
    WINDOW_SCALE,   /* the scale is known */
    WINDOW_NOT_YET, /* the window is still open: ask again */
    WINDOW_OUTSIDE, /* the hit is in no window and does not count */
};

/* The scale of a hit at `time` that took `duration` ns until then, all of it within a window. A
 * long hit is less likely to lie within a window as a whole, so its scale is larger. Windows show
 * nothing of hits that are as long as a window, so the scale has a limit: ten times the scale of a
 * short hit. */
enum window_answer window_log_scale(const struct window_log *log, uint64_t time, uint64_t duration,
                                    double *scale);

/*
 * The scale of a hit with a duration depends on the duration.
 *
 * A duration d is seen only if it begins and ends in one window. At a constant rate, a window of
 * length w shows those that begin in its first w - d. So the longer a duration is, the fewer of
 * them are seen. None is seen that is as long as the longest window.
 */

struct window_lengths {
    double represented_ns;
    uint64_t last_start, last_end; /* of the latest window, which may continue */
    struct {
        uint64_t count;
        double ns;
    } buckets[LOG_HISTOGRAM_BUCKETS]; /* the earlier windows, by length */
};

/* Add the window [start, end). If it begins where the last one ended, the two are one window. */
void window_lengths_add(struct window_lengths *lengths, uint64_t start, uint64_t end,
                        uint64_t represents);

/* The scale of durations of `ns`: 1 where windows cover all of the time. Where no window is longer
 * than `ns`, the scale of a duration of 0. */
double window_lengths_scale(const struct window_lengths *lengths, uint64_t ns);

/* ---- estimate.c ---- */

/*
 * A total that is estimated from windows, and its error.
 *
 * Windows stand for the strata that they lie in. The last stratum may reach beyond the end of the
 * recording, or have had no window yet. And probes slow the target down, so less happens in a
 * window than would without it. But two things are known for the whole time: its length, and the
 * work that the target did in it (in any unit). The scaled windows are corrected to one or the
 * other: a ratio estimate (Cochran, Sampling Techniques, chapter 6). For a steady load the total is
 * right, however few windows there were.
 *
 * One window in each stratum gives no variance of its own. The differences of neighbours do, if
 * neighbours are assumed to be alike: successive differences (Wolter, Introduction to Variance
 * Estimation, chapter 8). Where they are not alike, the error comes out too large.
 *
 * Where a few windows stand for most of the hits, they alone tell the error. So windows count as
 * many as windows with equal numbers of hits would, apart from the chance of hits that come one by
 * one: the chance that two hits are of one window is the reciprocal of their number.
 *
 * Windows with few hits can be alike by chance. The error is at least the error of a Poisson
 * distribution with as many hits. If the target counts the value itself, these are only the hits
 * that it does not count.
 */

struct estimate {
    /* The target counts the value itself, as its work. Set before the first window. */
    bool is_counted;
    double seen_ns, represented_ns; /* all windows */
    /* Windows that stand for themselves: */
    double exact, exact_ns, exact_work;
    /* The other windows, which are scaled: */
    uint64_t windows, windows_at_work; /* all of them, and those in which the target worked */
    double scaled, scaled_ns, scaled_work;
    double last_rate, last_work_rate;
    /* Weighted sums over pairs of neighbours: the difference of the value's rates squared, its
     * product with the difference of work's rates, and the latter squared. */
    double differences, with_work, of_work;
    double hits, scaled_hits;
    double scaled_pairs; /* ordered pairs of scaled hits in one window */
    /* If the target counts the value: over all windows, the hits times the relative difference
     * between the window's value and the target's count. */
    double missed;
    double chance; /* variance of `scaled` if hits come at random */
};

/* A window, or the whole time. */
struct estimate_span {
    double ns;
    double work; /* 0: unknown, or the value does not grow with work */
};

/* Add a window: `seen` stands for `represents_ns`, and the value grew by `value` in it, by at most
 * `hits` hits, each of 1 or more. */
void estimate_add(struct estimate *estimate, struct estimate_span seen, double represents_ns,
                  double value, double hits);

/* The total of the whole time `all`. */
double estimate_total(const struct estimate *estimate, struct estimate_span all);

/* The ratio of the target's work per time in the whole time to that in the scaled windows; 1 if
 * there are too few windows. */
double estimate_slowdown(const struct estimate *estimate, struct estimate_span all);

/* Half of the 95 % confidence interval of the total: 0 if windows cover all of the time. NAN if
 * there are too few windows: in all, while the target worked, or with most of the hits. */
double estimate_error(const struct estimate *estimate, struct estimate_span all);
