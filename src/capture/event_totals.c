// SPDX-License-Identifier: Apache-2.0
/* The totals of an event, from what its windows counted. */
#include "capture/event_probes_internal.h"

#include <math.h>

#include "capture/programs.h"
#include "util/confidence.h"

/* The part of the hits whose time may have begun before the window. If it is more, the sum is
 * unknown. If times are much shorter than windows, this part is about the ratio of both lengths. */
#define CUT_MOST 0.1

double event_totals_work_of_value(const struct probed_event *event, int value,
                                  const struct vm_work *work)
{
    if (event->kind->by_time >> value & 1)
        return 0;
    return (double)(event->kind->by_amount >> value & 1 ? work->amount : work->count);
}

/* The whole time of a value. Until the probes are stopped, it is the time that windows stand
 * for. */
static struct estimate_span span_of(const struct event_probes *probes,
                                    const struct probed_event *event, double work)
{
    if (!probes->stopped)
        return (struct estimate_span){.ns = event->hits.represented_ns};
    return (struct estimate_span){probes->so_far_ns, work};
}

/* True if windows cut many of the times that the value adds up: they began before their window, and
 * may be longer than a window is. How much longer can't be known. */
static bool is_cut(const struct probed_event *event, int value,
                   const struct wire_slot_counts *counts)
{
    return (event->kind->by_time >> value & 1) && event->kind->cut && event->hits.windows &&
           (double)counts->tallies[event->kind->cut - 1] > CUT_MOST * (double)counts->hits;
}

static bool is_in_pairs(const struct probed_event *event, int value)
{
    return event->hits.windows && (event->kind->in_pairs >> value & 1);
}

static void add_sum(const struct event_probes *probes, const struct probed_event *event, int value,
                    const struct wire_slot_counts *counts, struct event_summary *summary)
{
    const struct estimate *estimate = &event->estimates[value];
    const struct estimate_span all =
        span_of(probes, event, event_totals_work_of_value(event, value, &event->so_far));
    uint64_t *error = &summary->errors[value];
    double own = estimate_error(estimate, all) / NORMAL_95_PERCENT;

    summary->sums[value] += (uint64_t)llround(estimate_total(estimate, all));
    if (!isfinite(own) || is_cut(event, value, counts) || is_in_pairs(event, value))
        *error = EVENT_ERROR_UNKNOWN;
    else if (*error != EVENT_ERROR_UNKNOWN)
        *error = (uint64_t)ceil(hypot((double)*error, own));
}

static void add_cost(const struct event_probes *probes, const struct probed_event *event,
                     struct event_summary *summary)
{
    struct governor_status status = governor_status(probes->governor, (unsigned)event->group);

    summary->cost_ns += (uint64_t)(status.spent_ns - event->before.cost_ns);
    summary->target_cpu_ns += status.target_cpu_ns - event->before.target_cpu_ns;
}

/* `correction` multiplies the scales of single windows, so that histograms add up to the sums. */
static void add_histograms(const struct event_probes *probes, const struct probed_event *event,
                           double correction, struct event_histogram *histograms)
{
    for (int i = 0; i < event->kind->histogram_count; i++) {
        struct histogram *sum = &histograms[i].histogram;
        bool is_time = event->kind->histograms[i].unit == UNIT_NS;
        struct wire_histogram counted;

        programs_histogram(probes->options.programs, event->histogram + (uint32_t)i, &counted);
        programs_histogram_since(&counted, &event->before.histograms[i]);
        if (counted.max > sum->max)
            sum->max = counted.max;
        for (uint32_t b = 0; b < LOG_HISTOGRAM_BUCKETS; b++) {
            double scale;

            if (!counted.buckets[b])
                continue;
            scale = window_lengths_scale(&event->lengths, is_time ? log_histogram_low(b) : 0);
            histograms[i].seen += counted.buckets[b];
            sum->buckets[b] += (uint64_t)llround((double)counted.buckets[b] * scale * correction);
        }
    }
}

void event_totals_add_summary(const struct event_probes *probes, int event,
                              struct event_summary *summary, struct event_histogram *histograms,
                              struct event_tally *tallies)
{
    const struct probed_event *of = &probes->events[event];
    const struct estimate_span all = span_of(probes, of, (double)of->so_far.count);
    struct wire_slot_counts counts = programs_slot_counts(probes->options.programs, of->slot);
    double alike, correction, tally_scale;

    programs_counts_since(&counts, &of->before.slot);
    alike = (double)counts.hits * window_lengths_scale(&of->lengths, 0);
    correction = alike > 0 ? estimate_total(&of->hits, all) / alike : 1;
    tally_scale = correction * window_lengths_scale(&of->lengths, 0);
    summary->hits += counts.hits;
    summary->lost += counts.lost;
    summary->span_ns += (uint64_t)fmax(all.ns, of->hits.seen_ns);
    summary->covered_ns += (uint64_t)of->hits.seen_ns;
    summary->windows += of->hits.windows;
    for (int v = 0; v < EVENT_VALUES; v++)
        add_sum(probes, of, v, &counts, summary);
    add_cost(probes, of, summary);
    if (counts.runs) /* reading histograms costs more than all the rest, and most VMs are idle */
        add_histograms(probes, of, correction, histograms);
    for (int i = 0; i < of->kind->tally_count; i++) {
        tallies[i].seen += counts.tallies[i];
        tallies[i].count += (uint64_t)llround((double)counts.tallies[i] * tally_scale);
    }
}
