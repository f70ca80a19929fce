// SPDX-License-Identifier: Apache-2.0
#include "output/output.h"
#include "output/weight.h"
#include "util/clock.h"

struct output_range output_source_range(const struct output_source *source,
                                        const struct recording_totals *totals)
{
    const struct selection_options *selection = source->selection;
    uint64_t start = source->header->start_monotonic;
    struct output_range range = {0, 0};

    if (totals->end_monotonic > start)
        range.to = totals->end_monotonic - start;
    if (selection) {
        range.from = selection->from_ns;
        if (selection->has_end && selection->to_ns < range.to)
            range.to = selection->to_ns;
    }
    if (range.to < range.from)
        range.to = range.from;
    return range;
}

/* Return the ns of the range in which nothing was recorded. */
static uint64_t gaps_of(const struct output_source *source, struct output_range range)
{
    uint64_t start = source->header->start_monotonic;

    return source->recording ? event_spans_gaps(recording_get_spans(source->recording), 0,
                                                start + range.from, start + range.to)
                             : 0;
}

double output_source_seconds(const struct output_source *source,
                             const struct recording_totals *totals)
{
    struct output_range range = output_source_range(source, totals);

    return (double)(range.to - range.from - gaps_of(source, range)) / 1e9;
}

double output_source_gap_seconds(const struct output_source *source,
                                 const struct recording_totals *totals)
{
    return (double)gaps_of(source, output_source_range(source, totals)) / 1e9;
}

static const struct spans *recorded_of(const struct output_source *source, event_id event)
{
    return source->recording ? event_spans_get(recording_get_recorded(source->recording), event)
                             : NULL;
}

bool output_source_is_partial(const struct output_source *source, event_id event)
{
    return recorded_of(source, event) != NULL;
}

double output_source_event_seconds(const struct output_source *source, event_id event,
                                   const struct recording_totals *totals)
{
    const struct output_range range = output_source_range(source, totals);
    const struct spans *recorded = recorded_of(source, event);
    uint64_t start = source->header->start_monotonic, sum = 0;

    if (!recorded)
        return output_source_seconds(source, totals);
    for (size_t i = 0; i < recorded->count; i++) {
        uint64_t from = clock_since(start + range.from, recorded->list[i].start);
        uint64_t to = clock_since(start + range.from, recorded->list[i].end);
        struct output_range part = {range.from + from, range.from + to};

        if (part.to > range.to)
            part.to = range.to;
        if (part.from < part.to)
            sum += part.to - part.from - gaps_of(source, part);
    }
    return (double)sum / 1e9;
}

uint64_t output_source_start(const struct output_source *source)
{
    return source->header->start_realtime + (source->selection ? source->selection->from_ns : 0) +
           (source->piece ? source->piece->first : 0);
}

bool output_source_takes_row(const struct output_source *source)
{
    struct output_piece *piece = source->piece;
    uint32_t row;

    if (!piece)
        return true;
    row = piece->rows++;
    return row >= piece->first && row - piece->first < piece->most;
}

bool output_source_selects(const struct output_source *source, event_id event)
{
    return !source->events->has || source->events->has[event];
}

bool output_source_shows(const struct output_source *source, event_id event)
{
    return output_source_selects(source, event) && (!source->event || source->event == event);
}

struct number_text output_source_total(const struct output_source *source)
{
    for (event_id id = 1; id <= profile_counts(source->profile).events; id++) {
        const struct event_summary *summary = recording_get_summary(source->recording, id);
        struct weight weight = weight_of_event(source, id);

        if (summary && output_source_shows(source, id) && !weight.is_metric && !weight.is_one &&
            summary->sums[weight.value])
            return weight_text(&weight, summary->sums[weight.value]);
    }
    return (struct number_text){0};
}

int output_source_side(const struct output_source *source, const struct sample *sample)
{
    uint64_t start = source->header->start_monotonic;

    return source->comparison ? comparison_side_of(source->comparison, start, sample) : 0;
}
