// SPDX-License-Identifier: Apache-2.0
#include "profile/event_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/confidence.h"
#include "util/number.h"

static void free_lists(const struct event_summary *summary)
{
    free((void *)summary->histograms);
    free((void *)summary->tallies);
}

void event_summaries_free(struct event_summaries *summaries)
{
    for (uint32_t i = 0; i < summaries->count; i++)
        free_lists(&summaries->of[i]);
    free(summaries->of);
}

const struct event_summary *event_summaries_get(const struct event_summaries *summaries,
                                                event_id event)
{
    const struct event_summary *summary =
        event && event <= summaries->count ? &summaries->of[event - 1] : NULL;

    return summary && summary->event ? summary : NULL;
}

struct event_summary *event_summaries_place(struct event_summaries *summaries, event_id event)
{
    if (event > summaries->count) {
        summaries->of = xreallocarray(summaries->of, event, sizeof(*summaries->of));
        memset(summaries->of + summaries->count, 0,
               (event - summaries->count) * sizeof(*summaries->of));
        summaries->count = event;
    }
    return &summaries->of[event - 1];
}

double event_summary_half(const struct event_summary *summary, uint32_t value)
{
    if (summary->errors[value] == EVENT_ERROR_UNKNOWN)
        return NAN;
    return NORMAL_95_PERCENT * (double)summary->errors[value];
}

bool event_summary_is_sure(const struct event_summary *summary, uint32_t value)
{
    return event_summary_half(summary, value) <= (double)summary->sums[value];
}

uint64_t event_summary_unseen_at_most(const struct event_summary *summary)
{
    if (!summary->windows || summary->covered_ns >= summary->span_ns)
        return 0;
    if (!summary->covered_ns)
        return UINT64_MAX;
    return whole_part(ceil(3 * (double)summary->span_ns / (double)summary->covered_ns));
}

/* ---- encoding ---- */

static void encode_histogram(const struct event_histogram *named, struct buffer *bytes)
{
    const struct histogram *histogram = &named->histogram;
    uint32_t count = LOG_HISTOGRAM_BUCKETS;

    while (count && !histogram->buckets[count - 1])
        count--;
    buffer_varint(bytes, named->name);
    buffer_varint(bytes, named->unit);
    buffer_varint(bytes, named->seen);
    buffer_varint(bytes, histogram->max);
    buffer_varint(bytes, count);
    for (uint32_t i = 0; i < count; i++)
        buffer_varint(bytes, histogram->buckets[i]);
}

void event_summary_encode(const struct profile *profile, const struct event_summary *summary,
                          struct buffer *bytes)
{
    uint32_t values = profile_get_event(profile, summary->event)->value_count;

    buffer_varint(bytes, summary->event);
    buffer_varint(bytes, summary->hits);
    buffer_varint(bytes, summary->lost);
    buffer_varint(bytes, summary->span_ns);
    buffer_varint(bytes, summary->covered_ns);
    buffer_varint(bytes, summary->windows);
    buffer_varint(bytes, summary->cost_ns);
    buffer_varint(bytes, summary->target_cpu_ns);
    for (uint32_t i = 0; i < values; i++) {
        buffer_varint(bytes, summary->sums[i]);
        buffer_varint(bytes, summary->errors[i]);
    }
    buffer_varint(bytes, summary->histogram_count);
    for (size_t i = 0; i < summary->histogram_count; i++)
        encode_histogram(&summary->histograms[i], bytes);
    buffer_varint(bytes, summary->tally_count);
    for (size_t i = 0; i < summary->tally_count; i++) {
        buffer_varint(bytes, summary->tallies[i].name);
        buffer_varint(bytes, summary->tallies[i].count);
        buffer_varint(bytes, summary->tallies[i].seen);
    }
}

/* ---- decoding ---- */

static uint64_t decode_number(struct cursor *cursor)
{
    return cursor_varint(cursor, UINT64_MAX, "");
}

static string_id decode_string(struct cursor *cursor, const struct id_map *strings)
{
    return id_map_decode(strings, cursor, "string is not defined");
}

static void decode_histogram(struct cursor *cursor, const struct id_map *strings,
                             struct event_histogram *named)
{
    uint64_t count;

    named->name = decode_string(cursor, strings);
    named->unit = (uint32_t)cursor_varint(cursor, UNIT_END - 1, "unknown unit");
    named->seen = decode_number(cursor);
    named->histogram.max = decode_number(cursor);
    count = cursor_varint(cursor, LOG_HISTOGRAM_BUCKETS, "histogram has too many buckets");
    for (uint64_t i = 0; i < count; i++)
        named->histogram.buckets[i] = decode_number(cursor);
    if (!named->unit)
        cursor_fail(cursor, "unknown unit");
}

static const struct event_histogram *decode_histograms(struct cursor *cursor,
                                                       const struct id_map *strings, size_t *count)
{
    struct event_histogram *list;

    *count = cursor_varint(cursor, EVENT_HISTOGRAMS_MAX, "too many histograms");
    list = xcalloc(*count + 1, sizeof(*list));
    for (size_t i = 0; i < *count && !cursor->problem; i++)
        decode_histogram(cursor, strings, &list[i]);
    return list;
}

static const struct event_tally *decode_tallies(struct cursor *cursor, const struct id_map *strings,
                                                size_t *count)
{
    struct event_tally *list;

    *count = cursor_varint(cursor, EVENT_TALLIES_MAX, "too many tallies");
    list = xcalloc(*count + 1, sizeof(*list));
    for (size_t i = 0; i < *count && !cursor->problem; i++) {
        list[i].name = decode_string(cursor, strings);
        list[i].count = decode_number(cursor);
        list[i].seen = decode_number(cursor);
    }
    return list;
}

static void replace(struct event_summaries *summaries, const struct event_summary *summary)
{
    struct event_summary *place = event_summaries_place(summaries, summary->event);

    free_lists(place);
    *place = *summary;
}

void event_summary_decode(struct event_summaries *summaries, const struct profile *profile,
                          const struct id_map *strings, struct cursor *cursor)
{
    struct event_summary summary = {0};

    summary.event =
        (event_id)cursor_varint(cursor, profile_counts(profile).events, "event is not defined");
    if (!summary.event) {
        cursor_fail(cursor, "summary without an event");
        return;
    }
    summary.hits = decode_number(cursor);
    summary.lost = decode_number(cursor);
    summary.span_ns = decode_number(cursor);
    summary.covered_ns = decode_number(cursor);
    summary.windows = decode_number(cursor);
    summary.cost_ns = decode_number(cursor);
    summary.target_cpu_ns = decode_number(cursor);
    for (uint32_t i = 0; i < profile_get_event(profile, summary.event)->value_count; i++) {
        summary.sums[i] = decode_number(cursor);
        summary.errors[i] = decode_number(cursor);
    }
    summary.histograms = decode_histograms(cursor, strings, &summary.histogram_count);
    summary.tallies = decode_tallies(cursor, strings, &summary.tally_count);
    if (cursor->problem)
        free_lists(&summary);
    else
        replace(summaries, &summary);
}
