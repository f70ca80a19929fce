// SPDX-License-Identifier: Apache-2.0
#include "output/stats/events.h"

#include <inttypes.h>
#include <string.h>

#include "output/json/json.h"
#include "profile/events.h"

/* Write `before` and a key. */
static void put_key(FILE *file, const char *before, const char *key)
{
    fputs(before, file);
    json_string(file, key);
    fputs(": ", file);
}

static void put_ms(FILE *file, const char *key, uint64_t ns)
{
    fprintf(file, ", \"%s\": %" PRIu64 ".%03u", key, ns / 1000000, (unsigned)(ns / 1000 % 1000));
}

/* Write the buckets that are not empty: the lowest number of each, and the count of its numbers. */
static void put_buckets(FILE *file, const struct histogram *histogram)
{
    const char *before = "";

    fputs(", \"buckets\": [", file);
    for (uint32_t i = 0; i < LOG_HISTOGRAM_BUCKETS; i++) {
        if (!histogram->buckets[i])
            continue;
        fprintf(file, "%s[%" PRIu64 ", %" PRIu64 "]", before, (uint64_t)log_histogram_low(i),
                histogram->buckets[i]);
        before = ", ";
    }
    fputs("]}", file);
}

static void put_histogram(FILE *file, const struct event_histogram *named)
{
    const struct histogram *histogram = &named->histogram;

    fprintf(file,
            "{\"unit\": \"%s\", \"count\": %" PRIu64 ", \"p50\": %" PRIu64 ", \"p99\": %" PRIu64
            ", \"max\": %" PRIu64,
            unit_name(named->unit), histogram_count(histogram), histogram_percentile(histogram, 50),
            histogram_percentile(histogram, 99), histogram->max);
    put_buckets(file, histogram);
}

/* Write 0 if the sum is not scaled, null if there were too few windows to estimate the error. */
static void put_error(FILE *file, uint64_t error)
{
    if (error == EVENT_ERROR_UNKNOWN)
        fputs(", \"standard_error\": null", file);
    else
        fprintf(file, ", \"standard_error\": %" PRIu64, error);
}

static void put_values(FILE *file, const struct profile *profile, const struct event_entry *event,
                       const struct event_summary *summary)
{
    fputs(",\n     \"values\": {", file);
    for (uint32_t i = 0; i < event->value_count; i++) {
        put_key(file, i ? ",\n       " : "\n       ", profile_text(profile, event->values[i].name));
        fprintf(file, "{\"unit\": \"%s\"", unit_name(event->values[i].unit));
        if (summary) {
            fprintf(file, ", \"sum\": %" PRIu64, summary->sums[i]);
            put_error(file, summary->errors[i]);
        }
        putc('}', file);
    }
    putc('}', file);
}

static void put_counted(FILE *file, const struct event_summary *summary)
{
    fprintf(file, ", \"hits\": %" PRIu64 ", \"lost\": %" PRIu64, summary->hits, summary->lost);
    put_ms(file, "span_ms", summary->span_ns);
    put_ms(file, "covered_ms", summary->covered_ns);
    fprintf(file, ", \"windows\": %" PRIu64, summary->windows);
    put_ms(file, "cost_ms", summary->cost_ns);
    put_ms(file, "target_cpu_ms", summary->target_cpu_ns);
}

static void put_histograms(FILE *file, const struct profile *profile,
                           const struct event_summary *summary)
{
    fputs(",\n     \"histograms\": {", file);
    for (size_t i = 0; i < summary->histogram_count; i++) {
        put_key(file, i ? ",\n       " : "\n       ",
                profile_text(profile, summary->histograms[i].name));
        put_histogram(file, &summary->histograms[i]);
    }
    putc('}', file);
}

static void put_tallies(FILE *file, const struct profile *profile,
                        const struct event_summary *summary)
{
    fputs(",\n     \"tallies\": {", file);
    for (size_t i = 0; i < summary->tally_count; i++) {
        put_key(file, i ? ",\n       " : "\n       ",
                profile_text(profile, summary->tallies[i].name));
        fprintf(file, "%" PRIu64, summary->tallies[i].count);
    }
    putc('}', file);
}

static void put_event(FILE *file, const struct output_source *source, event_id id, uint64_t samples)
{
    const struct profile *profile = source->profile;
    const struct event_entry *event = profile_get_event(profile, id);
    const struct event_summary *summary = recording_get_summary(source->recording, id);

    put_key(file, id > 1 ? ",\n    " : "\n    ", profile_text(profile, event->name));
    fprintf(file, "{\"samples\": %" PRIu64, samples);
    if (summary)
        put_counted(file, summary);
    put_values(file, profile, event, summary);
    if (summary)
        put_histograms(file, profile, summary);
    if (summary && summary->tally_count)
        put_tallies(file, profile, summary);
    putc('}', file);
}

static bool is_of_cpu_alone(const struct output_source *source)
{
    const struct profile *profile = source->profile;

    return profile_counts(profile).events == 1 && !recording_get_summary(source->recording, 1) &&
           event_is_cpu(profile, 1);
}

void stats_put_events(FILE *file, const struct output_source *source, const struct counts *samples)
{
    uint32_t count = profile_counts(source->profile).events;

    if (is_of_cpu_alone(source))
        return;
    fputs("  \"events\": {", file);
    for (event_id id = 1; id <= count; id++)
        put_event(file, source, id, id < samples->size ? samples->of[id] : 0);
    fputs("\n  },\n", file);
}
