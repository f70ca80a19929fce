// SPDX-License-Identifier: Apache-2.0
/*
 * How sure the value of a row of a table is. A row is a call site, a process or a pair of
 * processes. The probes of its event were attached in windows, or only some hits were sampled.
 *
 * The value of a row is the event's total times the row's share of the samples. Samples of one
 * window are alike, so a share is a ratio of sums over windows, and its variance is the variance of
 * a ratio of clusters (Cochran, Sampling Techniques, chapter 9). The variance is at least what
 * samples have that are taken at random one by one. The error of the total, times the share, is
 * added. Small numbers of samples, or of windows in which the row was seen, are assumed to follow a
 * Poisson distribution (util/confidence.h). Samples that stand only for themselves (SAMPLE_EXACT)
 * have no error.
 *
 * Samples are added in time order, as a recording has them: first to the whole, then to its rows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/event_summary.h"
#include "profile/profile.h"

/* A recording says where its windows were (profile/event_spans.h), but only when it was read to its
 * end, and samples are added before. At most ten windows a second are opened, so this time holds
 * two or more, or a part of a long one: clusters of windows are clusters as well. */
enum { ROW_WINDOW_NS = 250000000 };

/* The number of the span of time that stands for the window of a sample, from 1 on. */
uint64_t row_interval_window_at(uint64_t time);

/* One sample of a row, or several of one window. A hit can have several samples, one for each part
 * of its time; they count as one, with the sum of their values. */
struct row_part {
    uint32_t window; /* number of the window, from 1 on */
    int64_t samples; /* those whose value is not 0 */
    uint64_t value;
    double sampled; /* the part of the value that stands for other hits */
    double chance;  /* sum of the squares of its samples */
    uint64_t hit;   /* number of its hit, from 1 on; 0: of several hits */
};

struct row_sum {
    uint64_t samples, value;
    double sampled, chance;
    uint64_t hit;      /* the last one with a value that is not 0 */
    double of_hit;     /* its part of `sampled` */
    uint32_t window;   /* the last one with a sample */
    double open;       /* the sum of that window */
    double squares;    /* of the sums of earlier windows */
    double with_whole; /* products with the whole's sums of these windows */
};

/* The sum of all rows, by one value of the event. All zero is empty. */
struct row_whole {
    struct row_sum sum;
    bool has_parts;     /* a hit can have several samples; set before the first one */
    struct sample last; /* if so, the last sample */
    uint64_t hits;      /* with samples */
    uint64_t span;      /* in which the last sample was */
    uint32_t count;     /* of windows */
    uint32_t active;    /* those with samples that stand for others */
    double *windows;    /* the sum of each window, by number */
    size_t room;
};

/* True if two successive samples are of one hit: they have the same time, process and thread. For
 * events whose hits can have several samples. */
bool row_interval_have_one_hit(const struct sample *last, const struct sample *sample);

/* True if `sample` is of event sched and of the same hit as `last`, the sample of sched before it.
 * It becomes `last`. All zero: there was none. */
bool row_interval_continues_hit(struct sample *last, const struct profile *profile,
                                const struct sample *sample);

/* True if a sample, which is added next, is of the same hit as the last one. */
bool row_interval_has_hit(const struct row_whole *whole, const struct sample *sample);

void row_interval_free_whole(struct row_whole *whole);
/* Add a sample. Return it as a part of its row. */
struct row_part row_interval_add_whole(struct row_whole *whole, const struct sample *sample,
                                       uint32_t value);
/* Add a part that row_interval_add_whole() has returned, or several of one window. Windows never
 * decrease.
 */
void row_interval_add(struct row_sum *row, const struct row_whole *whole,
                      const struct row_part *part);

/* A row that contains two parts of one hit, from two places, counts the hit as two samples. Return
 * a part that corrects this when it is added to that row. */
struct row_part row_interval_in_common(const struct row_part *first, const struct row_part *second);

/* What is known of the total of the whole. */
struct row_cover {
    bool is_known;    /* else no row has an interval */
    bool is_selected; /* samples were left out: the total is not the event's */
    bool has_windows; /* else all of the time is covered */
    double unseen;    /* the share of the time that the windows do not cover */
    double unsampled; /* and the share of hits without a sample */
    double half;      /* half of the total's interval; NAN: unknown */
    double squares;   /* of the sums of all windows */
    double least;     /* no interval is narrower to each side */
    double windows;   /* number of all windows, with samples or without; 0: unknown */
};

/* `summary` NULL: unknown. `is_selected`: samples were left out. */
struct row_cover row_interval_cover(const struct row_whole *whole,
                                    const struct event_summary *summary, uint32_t value,
                                    bool is_selected);

/* The same for sweeps over processes: `summary` has the share of the processes that they read. A
 * sweep shows a moment, so the time between sweeps is not covered, even if a sweep reads all
 * processes. But a sweep of all processes has no error of selection (Cochran, chapter 2: the
 * correction for a finite population). */
struct row_cover row_interval_cover_of_sweeps(const struct row_whole *whole,
                                              const struct event_summary *summary, uint32_t value,
                                              bool is_selected);

/* The same for ticks of a clock: each tick stands for the time of many functions, of which it saw
 * one. The total is exact, unless `is_selected`: samples were left out, or the kernel's account of
 * the time is not known. */
struct row_cover row_interval_cover_of_ticks(bool is_selected);

/* Half of the 95 % interval of the row's value: 0 if it is exact, NAN if it is unknown. */
double row_interval_half(const struct row_sum *row, const struct row_whole *whole,
                         const struct row_cover *cover);

/* True if a row with this half may be there by chance: the interval contains 0, or is unknown and
 * there are hardly any samples. */
bool row_interval_is_chance(const struct row_sum *row, const struct row_cover *cover, double half);
