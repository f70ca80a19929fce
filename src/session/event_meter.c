// SPDX-License-Identifier: Apache-2.0
#include "session/node_meter_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/event_kinds.h"
#include "profile/event_summary.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "wire.h"

static const double NS = 1e-9;

/* The counts of one event; 0 where the event does not have a count. */
struct metered_counts {
    double sums[EVENT_VALUES], variances[EVENT_VALUES], cost;
    double buckets[TIME_BUCKETS];
};

enum { COUNTS = sizeof(struct metered_counts) / sizeof(double) };

struct event_meter {
    const struct session_options *options;
    struct metered_counts before[EVENTS_MAX]; /* of the segments before */
};

struct event_meter *event_meter_new(const struct session_options *options)
{
    struct event_meter *meter = xcalloc(1, sizeof(*meter));

    meter->options = options;
    return meter;
}

void event_meter_free(struct event_meter *meter)
{
    free(meter);
}

/* ---- the totals of this segment ---- */

/* Return how many histograms of an event have its times. *first: the first of them. */
static int shown_histograms(const char *kind, int *first)
{
    *first = 0;
    if (!strcmp(kind, EVENT_GC))
        return WIRE_GC_KINDS;
    *first = WIRE_SCHED_DELAYS;
    return strcmp(kind, EVENT_SCHED) ? 0 : WIRE_SCHED_DIRTY_DELAYS - WIRE_SCHED_DELAYS + 1;
}

/* Each bucket of the histogram lies within one of `buckets`. */
static void add_buckets(const struct histogram *histogram, double buckets[TIME_BUCKETS])
{
    for (uint32_t b = 0; b < LOG_HISTOGRAM_BUCKETS; b++) {
        uint64_t low = log_histogram_low(b);
        int bucket = 0;

        while (bucket < TIME_BUCKETS - 1 && low >= 1ull
                                                       << (FIRST_BUCKET_BIT + BUCKET_BITS * bucket))
            bucket++;
        buckets[bucket] += (double)histogram->buckets[b];
    }
}

/* Return the variance of a sum. If its error is not known, it is taken to be as large as the sum.
 */
static double variance_of(const struct event_summary *summary, int value)
{
    double error = (double)(summary->errors[value] == EVENT_ERROR_UNKNOWN ? summary->sums[value]
                                                                          : summary->errors[value]);

    return error * error;
}

static struct metered_counts read_counts(const struct event_meter *meter,
                                         const struct event_probes *probes, int event)
{
    const struct event_kind *kind = meter->options->events[event].kind;
    struct event_histogram *histograms =
        xcalloc((size_t)kind->histogram_count + 1, sizeof(*histograms));
    struct event_tally *tallies = xcalloc((size_t)kind->tally_count + 1, sizeof(*tallies));
    struct event_summary summary = {0};
    struct metered_counts counts = {0};
    int first, shown = shown_histograms(kind->name, &first);

    event_totals_add_summary(probes, event, &summary, histograms, tallies);
    for (int v = 0; v < EVENT_VALUES; v++) {
        counts.sums[v] = (double)summary.sums[v];
        counts.variances[v] = variance_of(&summary, v);
    }
    counts.cost = (double)summary.cost_ns;
    for (int i = first; i < first + shown; i++)
        add_buckets(&histograms[i].histogram, counts.buckets);
    free(histograms);
    free(tallies);
    return counts;
}

/* Return the sum of the counts of earlier segments and of this one. */
static struct metered_counts add(const struct metered_counts *before,
                                 const struct metered_counts *now)
{
    struct metered_counts sum = *before;

    for (int i = 0; i < COUNTS; i++)
        ((double *)&sum)[i] += ((const double *)now)[i];
    return sum;
}

/* ---- numbers ---- */

/* Raise a number to a new estimate. A number that counts never decreases, even if its estimate
 * does. The variance of a segment that has just begun is far too large, and would stay. So a
 * variance counts when its segment is complete. */
static void raise(double *number, double to)
{
    *number = isnan(*number) ? to : fmax(*number, to);
}

static void raise_histogram(struct number_histogram *histogram, const struct metered_counts *counts,
                            double ns)
{
    for (int i = 0; i < TIME_BUCKETS; i++)
        raise(&histogram->counts[i], round(counts->buckets[i]));
    raise(&histogram->seconds, ns * NS);
}

static void raise_pair(struct node_numbers *numbers, enum node_number number,
                       const struct metered_counts *counts, int value, double unit)
{
    raise(&numbers->of[number], counts->sums[value] * unit);
    raise(&numbers->of[number + 1], counts->variances[value] * unit * unit);
}

static void raise_cost(struct node_numbers *numbers, const char *event, double ns)
{
    size_t i = 0;
    char text[EVENT_TEXT];

    snprintf(text, sizeof(text), "%s", event);
    while (i < numbers->cost_count && strcmp(numbers->costs[i].event, text) != 0)
        i++;
    if (i == COSTS_MAX)
        return;
    if (i == numbers->cost_count)
        memcpy(numbers->costs[numbers->cost_count++].event, text, sizeof(text));
    raise(&numbers->costs[i].seconds, ns * NS);
}

static void show(const struct event_request *event, const struct metered_counts *counts,
                 struct node_numbers *numbers)
{
    raise_cost(numbers, event->name, counts->cost);
    if (!strcmp(event->name, EVENT_GC)) {
        raise_histogram(&numbers->pauses, counts, counts->sums[GC_TIME]);
        raise(&numbers->of[NUMBER_GC_VARIANCE], counts->variances[GC_TIME] * NS * NS);
    } else if (!strcmp(event->name, EVENT_SCHED)) {
        raise_histogram(&numbers->delays, counts, counts->sums[SCHED_DELAY]);
        raise(&numbers->of[NUMBER_DELAY_VARIANCE], counts->variances[SCHED_DELAY] * NS * NS);
        raise_pair(numbers, NUMBER_LONG_SECONDS, counts, SCHED_LONG, NS);
    } else if (!strcmp(event->name, EVENT_MSG)) {
        raise_pair(numbers, NUMBER_SENT, counts, MSG_COUNT, 1);
        raise_pair(numbers, NUMBER_RECEIVED, counts, MSG_RECEIVED, 1);
    }
}

void event_meter_read(struct event_meter *meter, const struct event_probes *probes, bool is_last,
                      struct node_numbers *numbers)
{
    for (int event = 0; probes && event < meter->options->event_count; event++) {
        struct error refused;
        struct metered_counts counts;

        if (event_probes_refused(probes, event, &refused))
            continue;
        counts = read_counts(meter, probes, event);
        if (!is_last)
            memset(counts.variances, 0, sizeof(counts.variances));
        counts = add(&meter->before[event], &counts);
        show(&meter->options->events[event], &counts, numbers);
        if (is_last)
            meter->before[event] = counts;
    }
}
