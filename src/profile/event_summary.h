// SPDX-License-Identifier: Apache-2.0
/*
 * The counts of one event, apart from its samples. They include every hit, while samples with
 * stacks may be taken of some hits only. If a probe was attached for a part of the time, sums and
 * histograms are scaled up to all of the time. Standard errors show how exact the sums are.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "log_histogram.h"
#include "profile/profile.h"
#include "util/buffer.h"
#include "util/cursor.h"
#include "util/id_map.h"

/* ---- histogram.c ---- */

/* A histogram of numbers. log_histogram.h defines the buckets. */

struct histogram {
    uint64_t max; /* largest number added */
    uint64_t buckets[LOG_HISTOGRAM_BUCKETS];
};

/* Add `number`, `count` times. */
void histogram_add(struct histogram *histogram, uint64_t number, uint64_t count);
/* Return how many numbers were added. */
uint64_t histogram_count(const struct histogram *histogram);
/* Return a percentile, as if the numbers in a bucket were spread evenly. The error is less than a
 * quarter of the true value, and the result never exceeds the largest number. 0 if the histogram is
 * empty. */
uint64_t histogram_percentile(const struct histogram *histogram, double percent);

/* ---- event_summary.c ---- */

enum { EVENT_HISTOGRAMS_MAX = 64, EVENT_TALLIES_MAX = 64 };

/* The standard error of a sum of windows that are too few or too short to estimate it. */
#define EVENT_ERROR_UNKNOWN UINT64_MAX

struct event_histogram {
    string_id name; /* "pause, minor" */
    uint32_t unit;  /* enum unit */
    uint64_t seen;  /* how many of the numbers were seen, not scaled */
    struct histogram histogram;
};

/* How many hits of the event had a property. */
struct event_tally {
    string_id name; /* "out of reductions" */
    uint64_t count;
    uint64_t seen; /* as in a histogram */
};

struct event_summary {
    event_id event;
    uint64_t hits;                 /* hits that were seen, not scaled */
    uint64_t lost;                 /* samples that were dropped */
    uint64_t span_ns, covered_ns;  /* all of the time; the part that was observed */
    uint64_t windows;              /* windows that sums are scaled up from; 0: not scaled */
    uint64_t cost_ns;              /* cost of the probes: hits, attaching, detaching */
    uint64_t target_cpu_ns;        /* CPU time of the target meanwhile, with the time of hits */
    uint64_t sums[EVENT_VALUES];   /* of the event's values */
    uint64_t errors[EVENT_VALUES]; /* standard errors; sum +- 1.96 errors is the 95 % interval */
    const struct event_histogram *histograms;
    size_t histogram_count; /* at most EVENT_HISTOGRAMS_MAX */
    const struct event_tally *tallies;
    size_t tally_count; /* at most EVENT_TALLIES_MAX */
};

/* The summaries of all events. Each has its own histograms and tallies. All zero is empty. */
struct event_summaries {
    struct event_summary *of; /* indexed by event - 1; absent if its `event` is 0 */
    uint32_t count;
};

void event_summaries_free(struct event_summaries *summaries);
/* The summary of an event, added if it is absent. Valid until another one is added. */
struct event_summary *event_summaries_place(struct event_summaries *summaries, event_id event);
/* The summary of an event, or NULL. */
const struct event_summary *event_summaries_get(const struct event_summaries *summaries,
                                                event_id event);

/* Half of the 95 % interval of a sum: 0 where all of it was counted, NAN if it is unknown. */
double event_summary_half(const struct event_summary *summary, uint32_t value);
/* True if the sum says something: its interval is known, and is not wider than the sum itself on
 * each side. A sum of 0 whose error is known is sure. */
bool event_summary_is_sure(const struct event_summary *summary, uint32_t value);

/* The upper limit, with 95 % confidence, of the number of hits of a kind that no window saw, if
 * hits come at random: 3 in the time that windows cover (the rule of three: e to the power of -3 is
 * 5 %), scaled to all of the time. 0 if all of the time was observed, because then there were none;
 * UINT64_MAX if none of it was. */
uint64_t event_summary_unseen_at_most(const struct event_summary *summary);

/* Encode to bytes (recording_format.h), and decode. Decoding replaces the summary of the event, or
 * sets cursor->problem. `strings`: of the recording. */
void event_summary_encode(const struct profile *profile, const struct event_summary *summary,
                          struct buffer *bytes);
void event_summary_decode(struct event_summaries *summaries, const struct profile *profile,
                          const struct id_map *strings, struct cursor *cursor);
