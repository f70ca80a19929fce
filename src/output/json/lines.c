// SPDX-License-Identifier: Apache-2.0
/*
 * All data of samples as JSON, one object per line (docs/json.md). Lines are written as samples
 * come: memory holds only which table entries were written.
 */
#include "output/formats.h"

#include <stdlib.h>

#include "output/json/json.h"
#include "profile/microstates.h"
#include "util/alloc.h"
#include "util/clock.h"

/* The version of the format in docs/json.md. */
enum { JSON_VERSION = 1 };

struct json_lines {
    FILE *file;
    struct output_source source;
    struct json_entries entries;
    uint64_t samples; /* written so far */
};

static void write_header(FILE *file, const struct recording_header *header)
{
    struct json json = json_line_open(file, "header");

    json_number(&json, "version", JSON_VERSION);
    json_text(&json, "beamflame", header->version);
    json_number(&json, "start_realtime_ns", header->start_realtime);
    json_number(&json, "frequency", header->frequency);
    json_text(&json, "sampled_by", header->event);
    json_number(&json, "cpus", header->cpus);
    json_text(&json, "hostname", header->hostname);
    json_text(&json, "kernel", header->kernel);
    json_text(&json, "command", header->command);
    if (header->trigger[0])
        json_text(&json, "trigger", header->trigger);
    json_line_close(&json);
}

static void *json_lines_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct json_lines *lines;

    if (source->change) {
        error_set(error, ERROR_USAGE,
                  "--delta does not work with .json, which has the metrics themselves");
        return NULL;
    }
    lines = xcalloc(1, sizeof(*lines));
    lines->file = file;
    lines->source = *source;
    lines->entries = (struct json_entries){.file = file, .profile = source->profile};
    write_header(file, source->header);
    for (event_id id = 1; id <= profile_counts(source->profile).events; id++)
        if (output_source_shows(&lines->source, id))
            json_entries_event(&lines->entries, id);
    return lines;
}

/* ---- samples ---- */

static void put_values(struct json *json, const struct profile *profile,
                       const struct event_entry *event, const uint64_t *values)
{
    for (uint32_t i = 0; i < event->value_count; i++)
        json_number(json, profile_text(profile, event->values[i].name), values[i]);
}

static void put_flags(struct json *json, uint8_t flags)
{
    static const struct {
        uint8_t flag;
        const char *key;
    } names[] = {
        {SAMPLE_ERLANG, "erlang"},   {SAMPLE_COMPLETE, "complete"}, {SAMPLE_TRUNCATED, "truncated"},
        {SAMPLE_NO_LEAF, "no_leaf"}, {SAMPLE_NAMED, "named"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (flags & names[i].flag)
            json_bool(json, names[i].key, true);
}

static void put_metrics(struct json *json, const struct metrics *metrics)
{
    if (!metrics->known)
        return;
    json_open(json, "metrics", '{');
    for (int i = 0; i < METRICS; i++)
        if (metrics_know(metrics, (enum metric)i))
            json_number(json, metric_name((enum metric)i), metrics->values[i]);
    json_close(json, '}');
}

static uint64_t since_start(const struct json_lines *lines, uint64_t time)
{
    return clock_since(lines->source.header->start_monotonic, time);
}

static int json_lines_sample(void *state, const struct sample *sample, struct error *error)
{
    struct json_lines *lines = state;
    const struct profile *profile = lines->source.profile;
    const struct event_entry *event = profile_get_event(profile, sample->event);
    struct json json;

    (void)error;
    if (!output_source_shows(&lines->source, sample->event))
        return 0;
    lines->samples += !sample->is_part;
    json_entries_sample(&lines->entries, sample);
    json = json_line_open(lines->file, "sample");
    json_number(&json, "time_ns", since_start(lines, sample->time));
    json_text(&json, "event", profile_text(profile, event->name));
    json_open(&json, "values", '{');
    put_values(&json, profile, event, sample->values);
    json_close(&json, '}');
    json_number_if(&json, "stack", sample->stack);
    json_number_if(&json, "process", sample->process);
    json_number_if(&json, "peer", sample->peer);
    json_number_if(&json, "thread", sample->thread);
    json_number(&json, "cpu", sample->cpu);
    if (sample->status)
        json_text(&json, "status", profile_status_name(sample->status));
    if (sample->activity)
        json_text(&json, "activity", profile_activity_name(sample->activity));
    if (sample->detail)
        json_text(&json, "detail", profile_text(profile, sample->detail));
    if (sample->microstate)
        json_text(&json, "microstate", microstate_name(sample->microstate));
    json_trace_span(&json, profile, sample->trace_span);
    json_number_if(&json, "slice_ns", sample->slice);
    if (sample->is_part)
        json_bool(&json, "same_hit", true);
    put_flags(&json, sample->flags);
    put_metrics(&json, &sample->metrics);
    json_line_close(&json);
    return 0;
}

/* ---- what was counted ---- */

static void put_histograms(struct json *json, const struct profile *profile,
                           const struct event_summary *summary)
{
    json_open(json, "histograms", '[');
    for (size_t i = 0; i < summary->histogram_count; i++) {
        const struct event_histogram *histogram = &summary->histograms[i];

        json_open(json, NULL, '{');
        json_text(json, "name", profile_text(profile, histogram->name));
        json_text(json, "unit", profile_unit_name(histogram->unit));
        json_number(json, "seen", histogram->seen);
        json_number(json, "max", histogram->histogram.max);
        json_open(json, "buckets", '[');
        for (uint32_t bucket = 0; bucket < LOG_HISTOGRAM_BUCKETS; bucket++) {
            if (!histogram->histogram.buckets[bucket])
                continue;
            json_open(json, NULL, '[');
            json_number(json, NULL, log_histogram_low(bucket));
            json_number(json, NULL, histogram->histogram.buckets[bucket]);
            json_close(json, ']');
        }
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_tallies(struct json *json, const struct profile *profile,
                        const struct event_summary *summary)
{
    json_open(json, "tallies", '[');
    for (size_t i = 0; i < summary->tally_count; i++) {
        json_open(json, NULL, '{');
        json_text(json, "name", profile_text(profile, summary->tallies[i].name));
        json_number(json, "count", summary->tallies[i].count);
        json_number(json, "seen", summary->tallies[i].seen);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_counted(const struct json_lines *lines, const struct event_summary *summary)
{
    const struct profile *profile = lines->source.profile;
    const struct event_entry *event = profile_get_event(profile, summary->event);
    struct json json = json_line_open(lines->file, "counted");

    json_text(&json, "event", profile_text(profile, event->name));
    json_number(&json, "hits", summary->hits);
    json_number(&json, "lost", summary->lost);
    json_number(&json, "span_ns", summary->span_ns);
    json_number(&json, "covered_ns", summary->covered_ns);
    json_number(&json, "windows", summary->windows);
    json_number(&json, "cost_ns", summary->cost_ns);
    json_number(&json, "target_cpu_ns", summary->target_cpu_ns);
    json_open(&json, "sums", '{');
    put_values(&json, profile, event, summary->sums);
    json_close(&json, '}');
    json_open(&json, "standard_errors", '{');
    for (uint32_t i = 0; i < event->value_count; i++)
        if (summary->errors[i] != EVENT_ERROR_UNKNOWN)
            json_number(&json, profile_text(profile, event->values[i].name), summary->errors[i]);
    json_close(&json, '}');
    json_open(&json, "sure", '{');
    for (uint32_t i = 0; i < event->value_count; i++)
        json_bool(&json, profile_text(profile, event->values[i].name),
                  event_summary_is_sure(summary, i));
    json_close(&json, '}');
    put_histograms(&json, profile, summary);
    put_tallies(&json, profile, summary);
    json_line_close(&json);
}

static void write_thread_time(struct json_lines *lines, const struct thread_time *time)
{
    struct json json;

    json_entries_thread(&lines->entries, time->thread);
    json = json_line_open(lines->file, "thread_time");
    json_number(&json, "thread", time->thread);
    json_number(&json, "from_ns", since_start(lines, time->from));
    json_number(&json, "to_ns", since_start(lines, time->to));
    json_number(&json, "cpu_ns", time->cpu_ns);
    json_number(&json, "wait_ns", time->wait_ns);
    json_number(&json, "sampled_ns", time->sampled_ns);
    json_line_close(&json);
}

static void write_life(struct json_lines *lines, const struct target_life *life)
{
    struct json json;

    json_entries_target(&lines->entries, life->target);
    json = json_line_open(lines->file, "target_life");
    json_number(&json, "target", life->target);
    json_number(&json, "stopped_ns", life->stopped_ns);
    if (life->ended)
        json_number(&json, "ended_ns", since_start(lines, life->ended));
    json_line_close(&json);
}

static void write_marks(const struct json_lines *lines, const struct time_marks *marks)
{
    for (size_t i = 0; i < marks->count; i++) {
        struct json json = json_line_open(lines->file, "mark");

        json_number(&json, "time_ns", since_start(lines, marks->list[i].time));
        json_text(&json, "label", profile_text(lines->source.profile, marks->list[i].label));
        json_line_close(&json);
    }
}

/* `event` 0: the recorder itself. */
static void write_spans(const struct json_lines *lines, const char *type, event_id event,
                        const struct spans *spans)
{
    const struct profile *profile = lines->source.profile;
    struct json json = json_line_open(lines->file, type);

    if (event)
        json_text(&json, "event", profile_text(profile, profile_get_event(profile, event)->name));
    json_open(&json, "spans_ns", '[');
    for (size_t i = 0; i < spans->count; i++) {
        json_open(&json, NULL, '[');
        json_number(&json, NULL, since_start(lines, spans->list[i].start));
        json_number(&json, NULL, since_start(lines, spans->list[i].end));
        json_close(&json, ']');
    }
    json_close(&json, ']');
    json_line_close(&json);
}

static void write_all_spans(const struct json_lines *lines, const char *type,
                            const struct event_spans *all)
{
    for (event_id id = 0; id < all->count; id++) {
        const struct spans *spans = event_spans_get(all, id);

        if (spans && (!id || output_source_shows(&lines->source, id)))
            write_spans(lines, type, id, spans);
    }
}

static void write_node_series(struct json_lines *lines, const struct node_series *series)
{
    const struct profile *profile = lines->source.profile;
    const struct node_series_key *key = &series->key;
    struct json json;

    json_entries_target(&lines->entries, key->target);
    json_entries_process(&lines->entries, series->owner);
    json = json_line_open(lines->file, "node_metric");
    json_number(&json, "target", key->target);
    json_text(&json, "metric", node_metric_name(key->metric));
    json_text(&json, "unit", profile_unit_name(node_metric_unit(key->metric)));
    if (key->of)
        json_text(&json, "of", profile_text(profile, key->of));
    if (key->id)
        json_text(&json, "id", profile_text(profile, key->id));
    if (series->owner)
        json_number(&json, "owner", series->owner);
    json_open(&json, "readings", '[');
    for (size_t i = 0; i < series->count; i++) {
        json_open(&json, NULL, '[');
        json_number(&json, NULL, since_start(lines, series->list[i].time));
        json_number(&json, NULL, series->list[i].value);
        json_close(&json, ']');
    }
    json_close(&json, ']');
    json_line_close(&json);
}

static void write_totals(const struct json_lines *lines, const struct recording_totals *totals)
{
    struct json json = json_line_open(lines->file, "totals");

    json_number(&json, "duration_ns", since_start(lines, totals->end_monotonic));
    json_number(&json, "samples", lines->samples);
    json_number(&json, "left_out", totals->left_out);
    json_number(&json, "erlang_samples", totals->erlang_samples);
    json_number(&json, "complete_stacks", totals->complete_stacks);
    json_number(&json, "truncated_stacks", totals->truncated_stacks);
    json_number(&json, "frames", totals->frames);
    json_number(&json, "erlang_frames", totals->erlang_frames);
    json_number(&json, "unknown_erlang_frames", totals->unknown_erlang_frames);
    json_number(&json, "unknown_native_frames", totals->unknown_native_frames);
    json_number(&json, "attach_ns", totals->attach_ns);
    json_number(&json, "profiler_cpu_ns", totals->profiler_cpu_ns);
    json_number(&json, "peak_rss_kb", totals->peak_rss_kb);
    json_number(&json, "cpu_samples", totals->cpu_samples);
    json_number(&json, "cpu_sampled_ns", totals->cpu_sampled_ns);
    json_number(&json, "cpu_accounted_ns", totals->cpu_accounted_ns);
    json_bool(&json, "cut", totals->cut);
    json_open(&json, "losses", '{');
    for (int i = 0; i < LOSS_COUNT; i++)
        json_number(&json, profile_loss_name(i), totals->losses[i]);
    json_close(&json, '}');
    json_line_close(&json);
}

static void write_end(struct json_lines *lines, const struct recording_totals *totals)
{
    const struct recording *recording = lines->source.recording;
    const struct thread_times *threads = recording_get_threads(recording);
    const struct target_lives *lives = recording_get_lives(recording);
    const struct node_metrics *metrics = recording_get_node_metrics(recording);

    for (event_id id = 1; id <= profile_counts(lines->source.profile).events; id++) {
        const struct event_summary *summary = recording_get_summary(recording, id);

        if (summary && output_source_shows(&lines->source, id))
            write_counted(lines, summary);
    }
    for (size_t i = 0; i < threads->count; i++)
        write_thread_time(lines, &threads->list[i]);
    for (size_t i = 0; i < lives->count; i++)
        write_life(lines, &lives->list[i]);
    write_marks(lines, recording_get_marks(recording));
    write_all_spans(lines, "seen", recording_get_spans(recording));
    write_all_spans(lines, "recorded", recording_get_recorded(recording));
    for (size_t i = 0; i < metrics->count; i++)
        write_node_series(lines, &metrics->of[i]);
    write_totals(lines, totals);
}

static int json_lines_finish(void *state, const struct recording_totals *totals,
                             struct error *error)
{
    struct json_lines *lines = state;

    (void)error;
    if (totals)
        write_end(lines, totals);
    json_entries_free(&lines->entries);
    free(lines);
    return 0;
}

const struct output_format json_format = {
    .name = "json",
    .suffixes = {".json", ".json.gz"},
    .lists_idle = true,
    .begin = json_lines_begin,
    .sample = json_lines_sample,
    .finish = json_lines_finish,
};
