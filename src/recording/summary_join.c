// SPDX-License-Identifier: Apache-2.0
#include "recording/recording_internal.h"

#include <math.h>
#include <stdlib.h>

#include "util/alloc.h"
#include "util/number.h"

static void add(uint64_t *sum, uint64_t number)
{
    *sum = saturating_sum(*sum, number);
}

void recording_totals_add(struct recording_totals *totals, const struct recording_totals *next)
{
    add(&totals->samples, next->samples);
    add(&totals->erlang_samples, next->erlang_samples);
    add(&totals->complete_stacks, next->complete_stacks);
    add(&totals->truncated_stacks, next->truncated_stacks);
    add(&totals->frames, next->frames);
    add(&totals->erlang_frames, next->erlang_frames);
    add(&totals->unknown_erlang_frames, next->unknown_erlang_frames);
    add(&totals->unknown_native_frames, next->unknown_native_frames);
    add(&totals->profiler_cpu_ns, next->profiler_cpu_ns);
    add(&totals->cpu_samples, next->cpu_samples);
    add(&totals->cpu_sampled_ns, next->cpu_sampled_ns);
    add(&totals->cpu_accounted_ns, next->cpu_accounted_ns);
    add(&totals->left_out, next->left_out);
    for (int i = 0; i < LOSS_COUNT; i++)
        add(&totals->losses[i], next->losses[i]);
}

void summary_join_totals(struct recording_totals *totals, const struct recording_totals *next,
                         uint64_t shift)
{
    uint64_t end = next->end_monotonic + shift;

    if (!totals->end_monotonic)
        totals->attach_ns = next->attach_ns;
    if (totals->end_monotonic < end)
        totals->end_monotonic = end;
    recording_totals_add(totals, next);
    totals->cut |= next->cut;
    if (totals->peak_rss_kb < next->peak_rss_kb)
        totals->peak_rss_kb = next->peak_rss_kb;
}

/* ---- summaries ---- */

/* Combine two standard errors. Errors of different times are independent. */
static uint64_t join_errors(uint64_t one, uint64_t other)
{
    if (one == EVENT_ERROR_UNKNOWN || other == EVENT_ERROR_UNKNOWN)
        return EVENT_ERROR_UNKNOWN;
    return whole_part(hypot((double)one, (double)other) + 0.5);
}

/* The histogram with this name, added if it is absent; NULL if there is no room for it. */
static struct event_histogram *histogram_named(struct event_summary *summary, string_id name,
                                               uint32_t unit)
{
    struct event_histogram *list = (struct event_histogram *)summary->histograms;

    for (size_t i = 0; i < summary->histogram_count; i++)
        if (list[i].name == name)
            return &list[i];
    if (summary->histogram_count == EVENT_HISTOGRAMS_MAX)
        return NULL;
    list = xreallocarray(list, summary->histogram_count + 1, sizeof(*list));
    list[summary->histogram_count] = (struct event_histogram){.name = name, .unit = unit};
    summary->histograms = list;
    return &list[summary->histogram_count++];
}

static void join_histogram(struct event_summary *summary, string_id name,
                           const struct event_histogram *next)
{
    struct event_histogram *named = histogram_named(summary, name, next->unit);

    if (!named)
        return;
    add(&named->seen, next->seen);
    for (uint32_t i = 0; i < LOG_HISTOGRAM_BUCKETS; i++)
        add(&named->histogram.buckets[i], next->histogram.buckets[i]);
    if (named->histogram.max < next->histogram.max)
        named->histogram.max = next->histogram.max;
}

static void join_tally(struct event_summary *summary, string_id name,
                       const struct event_tally *next)
{
    struct event_tally *list = (struct event_tally *)summary->tallies;

    for (size_t i = 0; i < summary->tally_count; i++)
        if (list[i].name == name) {
            add(&list[i].count, next->count);
            add(&list[i].seen, next->seen);
            return;
        }
    if (summary->tally_count == EVENT_TALLIES_MAX)
        return;
    list = xreallocarray(list, summary->tally_count + 1, sizeof(*list));
    list[summary->tally_count++] = (struct event_tally){name, next->count, next->seen};
    summary->tallies = list;
}

void summary_join_events(struct event_summaries *summaries, event_id event,
                         struct profile_remap *remap, const struct event_summary *next)
{
    struct event_summary *summary = event_summaries_place(summaries, event);

    summary->event = event;
    add(&summary->hits, next->hits);
    add(&summary->lost, next->lost);
    add(&summary->span_ns, next->span_ns);
    add(&summary->covered_ns, next->covered_ns);
    add(&summary->windows, next->windows);
    add(&summary->cost_ns, next->cost_ns);
    add(&summary->target_cpu_ns, next->target_cpu_ns);
    for (int i = 0; i < EVENT_VALUES; i++) {
        add(&summary->sums[i], next->sums[i]);
        summary->errors[i] = join_errors(summary->errors[i], next->errors[i]);
    }
    for (size_t i = 0; i < next->histogram_count; i++)
        join_histogram(summary, profile_remap_string(remap, next->histograms[i].name),
                       &next->histograms[i]);
    for (size_t i = 0; i < next->tally_count; i++)
        join_tally(summary, profile_remap_string(remap, next->tallies[i].name), &next->tallies[i]);
}

/* ---- threads ---- */

/* The place of each thread in a list of times, plus 1, by thread id. */
struct places {
    size_t *of;
    size_t room;
};

static size_t *place_of(struct places *places, thread_id thread)
{
    places->of = xgrow(places->of, &places->room, thread, sizeof(*places->of));
    return &places->of[thread];
}

void summary_join_threads(struct thread_times *times, struct profile_remap *remap,
                          const struct thread_times *next, uint64_t shift)
{
    struct places places = {0};

    for (size_t i = times->count; i--;)
        *place_of(&places, times->list[i].thread) = i + 1;
    for (size_t i = 0; i < next->count; i++) {
        struct thread_time time = next->list[i];
        struct thread_time *known;
        size_t *place;

        time.thread = profile_remap_thread(remap, time.thread);
        time.from += shift;
        time.to += shift;
        if (time.to < time.from) /* the shift wraps */
            time.to = UINT64_MAX;
        place = place_of(&places, time.thread);
        if (!*place) {
            thread_times_add(times, &time);
            *place = times->count;
            continue;
        }
        known = &times->list[*place - 1];
        add(&known->to, time.to - time.from);
        add(&known->cpu_ns, time.cpu_ns);
        add(&known->wait_ns, time.wait_ns);
        add(&known->sampled_ns, time.sampled_ns);
    }
    free(places.of);
}

/* ---- targets ---- */

void summary_join_lives(struct target_lives *lives, struct profile_remap *remap,
                        const struct target_lives *next, uint64_t shift)
{
    for (size_t i = 0; i < next->count; i++) {
        const struct target_life *own = &next->list[i];
        struct target_life *life = target_life_of(lives, profile_remap_target(remap, own->target));

        if (own->ended && life->ended < own->ended + shift)
            life->ended = own->ended + shift;
        add(&life->stopped_ns, own->stopped_ns);
    }
}

/* Return the number of readings that are left out. */
static uint64_t join_series(struct node_metrics *metrics, struct profile_remap *remap,
                            const struct node_series *next, uint64_t shift)
{
    const struct node_series_key key = {
        .target = profile_remap_target(remap, next->key.target),
        .metric = next->key.metric,
        .of = profile_remap_string(remap, next->key.of),
        .id = profile_remap_string(remap, next->key.id),
    };
    struct node_series *series = node_metrics_place(metrics, &key);

    if (!series)
        return next->count;
    series->owner = profile_remap_process(remap, next->owner);
    for (size_t i = 0; i < next->count; i++)
        node_metrics_add(metrics, series, next->list[i].time + shift, next->list[i].value);
    return 0;
}

uint64_t summary_join_node_metrics(struct node_metrics *metrics, struct profile_remap *remap,
                                   const struct node_metrics *next, uint64_t shift)
{
    uint64_t left_out = 0;

    for (size_t i = 0; i < next->count; i++)
        left_out += join_series(metrics, remap, &next->of[i], shift);
    return left_out;
}

/* ---- marks ---- */

void summary_join_marks(struct time_marks *marks, struct profile_remap *remap,
                        const struct time_marks *next, uint64_t shift)
{
    for (size_t i = 0; i < next->count; i++) {
        const struct time_mark mark = {.time = next->list[i].time + shift,
                                       .label = profile_remap_string(remap, next->list[i].label)};

        time_marks_add(marks, &mark);
    }
}
