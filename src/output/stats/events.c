// SPDX-License-Identifier: Apache-2.0
#include "output/stats/events.h"

#include "profile/events.h"

/* Write the buckets that are not empty: the lowest number of each, and the count of its numbers. */
static void put_buckets(struct json *json, const struct histogram *histogram)
{
    json_open(json, "buckets", '[');
    for (uint32_t i = 0; i < LOG_HISTOGRAM_BUCKETS; i++) {
        if (!histogram->buckets[i])
            continue;
        json_open(json, NULL, '[');
        json_number(json, NULL, log_histogram_low(i));
        json_number(json, NULL, histogram->buckets[i]);
        json_close(json, ']');
    }
    json_close(json, ']');
}

static void put_histogram(struct json *json, const char *name, const struct event_histogram *named)
{
    const struct histogram *histogram = &named->histogram;

    json_open(json, name, '{');
    json_text(json, "unit", unit_name(named->unit));
    json_number(json, "count", histogram_count(histogram));
    json_number(json, "p50", histogram_percentile(histogram, 50));
    json_number(json, "p99", histogram_percentile(histogram, 99));
    json_number(json, "max", histogram->max);
    put_buckets(json, histogram);
    json_close(json, '}');
}

/* Write 0 if the sum is not scaled, null if there were too few windows to estimate the error. */
static void put_error(struct json *json, uint64_t error)
{
    if (error == EVENT_ERROR_UNKNOWN)
        json_null(json, "standard_error");
    else
        json_number(json, "standard_error", error);
}

static void put_values(struct json *json, const struct profile *profile,
                       const struct event_entry *event, const struct event_summary *summary)
{
    json_open_lines(json, "values", '{');
    for (uint32_t i = 0; i < event->value_count; i++) {
        json_open(json, profile_text(profile, event->values[i].name), '{');
        json_text(json, "unit", unit_name(event->values[i].unit));
        if (summary) {
            json_number(json, "sum", summary->sums[i]);
            put_error(json, summary->errors[i]);
        }
        json_close(json, '}');
    }
    json_close(json, '}');
}

static void put_counted(struct json *json, const struct event_summary *summary)
{
    json_number(json, "hits", summary->hits);
    json_number(json, "lost", summary->lost);
    json_ms(json, "span_ms", summary->span_ns);
    json_ms(json, "covered_ms", summary->covered_ns);
    json_number(json, "windows", summary->windows);
    json_ms(json, "cost_ms", summary->cost_ns);
    json_ms(json, "target_cpu_ms", summary->target_cpu_ns);
}

static void put_histograms(struct json *json, const struct profile *profile,
                           const struct event_summary *summary)
{
    json_open_lines(json, "histograms", '{');
    for (size_t i = 0; i < summary->histogram_count; i++)
        put_histogram(json, profile_text(profile, summary->histograms[i].name),
                      &summary->histograms[i]);
    json_close(json, '}');
}

static void put_tallies(struct json *json, const struct profile *profile,
                        const struct event_summary *summary)
{
    json_open_lines(json, "tallies", '{');
    for (size_t i = 0; i < summary->tally_count; i++)
        json_number(json, profile_text(profile, summary->tallies[i].name),
                    summary->tallies[i].count);
    json_close(json, '}');
}

static void put_event(struct json *json, const struct output_source *source, event_id id,
                      uint64_t samples)
{
    const struct profile *profile = source->profile;
    const struct event_entry *event = profile_get_event(profile, id);
    const struct event_summary *summary = recording_get_summary(source->recording, id);

    json_open_lines(json, profile_text(profile, event->name), '{');
    json_number(json, "samples", samples);
    if (summary)
        put_counted(json, summary);
    put_values(json, profile, event, summary);
    if (summary)
        put_histograms(json, profile, summary);
    if (summary && summary->tally_count)
        put_tallies(json, profile, summary);
    json_close(json, '}');
}

static bool is_of_cpu_alone(const struct output_source *source)
{
    const struct profile *profile = source->profile;

    return profile_counts(profile).events == 1 && !recording_get_summary(source->recording, 1) &&
           event_is_cpu(profile, 1);
}

void stats_put_events(struct json *json, const struct output_source *source,
                      const struct counts *samples)
{
    uint32_t count = profile_counts(source->profile).events;

    if (is_of_cpu_alone(source))
        return;
    json_open_lines(json, "events", '{');
    for (event_id id = 1; id <= count; id++)
        put_event(json, source, id, id < samples->size ? samples->of[id] : 0);
    json_close(json, '}');
}
