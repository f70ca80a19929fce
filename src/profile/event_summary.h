// SPDX-License-Identifier: Apache-2.0
/*
 * What was counted of an event, apart from its samples: every hit is in here, while samples with
 * stacks may be taken of some hits only. Where a probe was attached for a part of the time, sums
 * and histograms are scaled up to all of it, and standard errors say how sure they are.
 */
#pragma once

#include "profile/histogram.h"
#include "profile/profile.h"
#include "util/buffer.h"
#include "util/cursor.h"

enum { EVENT_HISTOGRAMS_MAX = 64, EVENT_TALLIES_MAX = 64 };

/* The standard error of a sum from too few windows to tell. */
#define EVENT_ERROR_UNKNOWN UINT64_MAX

struct event_histogram {
    string_id name; /* "pause, minor" */
    uint32_t unit;  /* enum unit */
    struct histogram histogram;
};

/* How often something was so at a hit of the event. */
struct event_tally {
    string_id name; /* "out of reductions" */
    uint64_t count;
};

struct event_summary {
    event_id event;
    uint64_t hits;                 /* that were seen, not scaled */
    uint64_t lost;                 /* samples that were dropped */
    uint64_t span_ns, covered_ns;  /* the time that there was, and that it was watched */
    uint64_t windows;              /* that sums are scaled up from; 0: none is scaled */
    uint64_t cost_ns;              /* of its probes: hits, attaching and detaching */
    uint64_t target_cpu_ns;        /* CPU time that the target used meanwhile, hits among it */
    uint64_t sums[EVENT_VALUES];   /* of the event's values */
    uint64_t errors[EVENT_VALUES]; /* their standard errors: 1.96 of them hold 95 % */
    const struct event_histogram *histograms;
    size_t histogram_count; /* at most EVENT_HISTOGRAMS_MAX */
    const struct event_tally *tallies;
    size_t tally_count; /* at most EVENT_TALLIES_MAX */
};

/* Summaries by event, each with histograms and tallies of its own. All zero is empty. */
struct event_summaries {
    struct event_summary *of; /* of[event - 1]; one whose event is 0 is not there */
    uint32_t count;
};

void event_summaries_free(struct event_summaries *summaries);
/* The place of an event, made if it was not there; valid until another one is. */
struct event_summary *event_summaries_place(struct event_summaries *summaries, event_id event);
/* NULL if there is none. */
const struct event_summary *event_summaries_get(const struct event_summaries *summaries,
                                                event_id event);

/* As bytes (recording_format.h), and back: replaces the summary of the event. */
void event_summary_encode(const struct profile *profile, const struct event_summary *summary,
                          struct buffer *bytes);
void event_summary_decode(struct event_summaries *summaries, const struct profile *profile,
                          struct cursor *cursor);
