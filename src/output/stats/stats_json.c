// SPDX-License-Identifier: Apache-2.0
/* The numbers of a recording as JSON, for --stats. */
#include "output/formats.h"

#include <stdlib.h>

#include "output/counts.h"
#include "output/json/json.h"
#include "output/output.h"
#include "output/summary/summary_text.h"
#include "profile/events.h"
#include "profile/microstates.h"
#include "util/alloc.h"

static uint32_t pid_of(const struct profile *profile, target_id target)
{
    return target ? profile_get_target(profile, target)->pid : 0;
}

static void put_times(struct json *json, const struct microstate_row *row)
{
    json_ms(json, "cpu_ms", row->cpu_ns);
    json_ms(json, "no_cpu_ms", row->wait_ns);
    if (row->cpu_ns)
        json_decimal(json, "sampled_ratio", (double)row->sampled_ns / (double)row->cpu_ns, 4);
}

static void put_row(struct json *json, const struct profile *profile,
                    const struct microstate_row *row)
{
    json_open(json, NULL, '{');
    json_number(json, "pid", pid_of(profile, row->target));
    json_text(json, "type", thread_type_name(row->type));
    json_number(json, "id", row->number);
    json_number(json, "tid", row->tid);
    json_number(json, "samples", row->samples);
    json_ms(json, "span_ms", row->span_ns);
    json_ms(json, "sampled_ms", row->sampled_ns);
    if (row->counted) {
        put_times(json, row);
    } else {
        json_null(json, "cpu_ms");
        json_null(json, "no_cpu_ms");
    }
    json_open(json, "states_ms", '{');
    for (int i = 0; i < MICROSTATE_COUNT; i++)
        json_ms(json, microstate_name(i), row->ns[i]);
    json_close(json, '}');
    json_close(json, '}');
}

/* Write the key "microstates" of --stats: the time of each thread by state. */
static void stats_put_microstates(struct json *json, const struct profile *profile,
                                  const struct microstate_row *rows, size_t count)
{
    json_open_lines(json, "microstates", '[');
    for (size_t i = 0; i < count; i++)
        put_row(json, profile, &rows[i]);
    json_close(json, ']');
}

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
    json_text(json, "unit", profile_unit_name(named->unit));
    json_number(json, "count", histogram_count(histogram));
    json_number(json, "seen", named->seen);
    json_number(json, "p50", histogram_percentile(histogram, 50));
    json_number(json, "p99", histogram_percentile(histogram, 99));
    json_number(json, "max", histogram->max);
    put_buckets(json, histogram);
    json_close(json, '}');
}

/* Write 0 if the sum is not scaled, null if windows were too few or too short to estimate the
 * error. */
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
        json_text(json, "unit", profile_unit_name(event->values[i].unit));
        if (summary) {
            json_number(json, "sum", summary->sums[i]);
            put_error(json, summary->errors[i]);
            json_bool(json, "sure", event_summary_is_sure(summary, i));
        }
        json_close(json, '}');
    }
    json_close(json, '}');
}

static void put_hits(struct json *json, const struct event_summary *summary)
{
    json_number(json, "hits", summary->hits);
    json_number(json, "lost", summary->lost);
    json_ms(json, "span_ms", summary->span_ns);
    json_ms(json, "covered_ms", summary->covered_ns);
    json_number(json, "windows", summary->windows);
    json_ms(json, "cost_ms", summary->cost_ns);
    json_ms(json, "target_cpu_ms", summary->target_cpu_ns);
    if (event_summary_unseen_at_most(summary) == UINT64_MAX)
        json_null(json, "unseen_at_most");
    else
        json_number(json, "unseen_at_most", event_summary_unseen_at_most(summary));
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
    json_open_lines(json, "tallies_seen", '{');
    for (size_t i = 0; i < summary->tally_count; i++)
        json_number(json, profile_text(profile, summary->tallies[i].name),
                    summary->tallies[i].seen);
    json_close(json, '}');
}

static void put_event(struct json *json, const struct output_source *source, event_id id,
                      uint64_t samples, const struct recording_totals *totals)
{
    const struct profile *profile = source->profile;
    const struct event_entry *event = profile_get_event(profile, id);
    const struct event_summary *summary = recording_get_summary(source->recording, id);

    json_open_lines(json, profile_text(profile, event->name), '{');
    json_number(json, "samples", samples);
    if (output_source_is_partial(source, id))
        json_decimal(json, "recorded_ms", output_source_event_seconds(source, id, totals) * 1e3, 3);
    if (summary)
        put_hits(json, summary);
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

/* Write the key "events" of --stats: the counts of each event. `samples` is the number of samples
 * by event. Write nothing for a recording of CPU samples alone: it has no counts besides its
 * samples. */
static void stats_put_events(struct json *json, const struct output_source *source,
                             const struct counts *samples, const struct recording_totals *totals)
{
    uint32_t count = profile_counts(source->profile).events;

    if (is_of_cpu_alone(source))
        return;
    json_open_lines(json, "events", '{');
    for (event_id id = 1; id <= count; id++)
        if (output_source_selects(source, id))
            put_event(json, source, id, id < samples->size ? samples->of[id] : 0, totals);
    json_close(json, '}');
}

struct stats {
    FILE *file;
    struct output_source source;
    struct counts samples; /* by event */
    struct microstates *microstates;
    struct counts cpu_ns, sampled_ns; /* of all threads, by target */
};

static void *stats_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct stats *stats = xcalloc(1, sizeof(*stats));

    (void)error;
    stats->file = file;
    stats->source = *source;
    stats->microstates = microstates_new(source->profile);
    return stats;
}

static int stats_sample(void *state, const struct sample *sample, struct error *error)
{
    struct stats *stats = state;

    (void)error;
    counts_add(&stats->samples, sample->event, !sample->is_part);
    microstates_add(stats->microstates, sample);
    return 0; /* all other numbers were counted while recording */
}

/* Sum the times of the threads of each target. */
static void sum_times(struct stats *stats)
{
    const struct thread_times *times = recording_get_threads(stats->source.recording);

    for (size_t i = 0; i < times->count; i++) {
        const struct thread_time *time = &times->list[i];
        target_id target = profile_get_thread(stats->source.profile, time->thread)->target;

        counts_add(&stats->cpu_ns, target, time->cpu_ns);
        counts_add(&stats->sampled_ns, target, time->sampled_ns);
    }
}

/* Write the CPU time of all threads of a target, by the kernel and by the sampling clock. */
static void put_target_time(struct json *json, const struct stats *stats, target_id id)
{
    uint64_t cpu = id < stats->cpu_ns.size ? stats->cpu_ns.of[id] : 0;
    uint64_t sampled = cpu ? stats->sampled_ns.of[id] : 0;

    if (!cpu)
        return;
    json_decimal(json, "cpu_ms", (double)cpu / 1e6, 3);
    json_decimal(json, "sampled_ms", (double)sampled / 1e6, 3);
    json_decimal(json, "sampled_ratio", (double)sampled / (double)cpu, 4);
}

/* Write the time for which the target was stopped, and when it ended. */
static void put_life(struct json *json, const struct stats *stats, target_id id)
{
    const struct target_life *life =
        target_lives_find(recording_get_lives(stats->source.recording), id);
    uint64_t start = stats->source.header->start_monotonic;

    json_ms(json, "stopped_ms", life ? life->stopped_ns : 0);
    if (life && life->ended)
        json_ms(json, "ended_ms", life->ended > start ? life->ended - start : 0);
    else
        json_null(json, "ended_ms");
}

static void put_target(struct json *json, const char *key, const struct stats *stats, target_id id)
{
    const struct profile *profile = stats->source.profile;
    const struct target_entry *target = profile_get_target(profile, id);

    json_open(json, key, '{');
    json_number(json, "pid", target->pid);
    json_text_or_null(json, "node", profile_text(profile, target->node));
    json_text_or_null(json, "otp_release", profile_text(profile, target->otp_release));
    json_text_or_null(json, "erts", profile_text(profile, target->erts));
    json_text_or_null(json, "flavor", profile_text(profile, target->flavor));
    json_number(json, "schedulers", target->schedulers);
    json_number(json, "dirty_cpu_schedulers", target->dirty_cpu_schedulers);
    json_number(json, "dirty_io_schedulers", target->dirty_io_schedulers);
    json_number(json, "processes", target->processes);
    json_text_or_null(json, "executable", profile_text(profile, target->executable));
    json_text_or_null(json, "container", profile_text(profile, target->container));
    json_text_or_null(json, "layout", profile_text(profile, target->layout));
    json_text_or_null(json, "attributes", profile_text(profile, target->attributes));
    put_life(json, stats, id);
    put_target_time(json, stats, id);
    json_close(json, '}');
}

static void put_targets(struct json *json, const struct stats *stats)
{
    uint32_t count = profile_counts(stats->source.profile).targets;

    if (count)
        put_target(json, "target", stats, 1);
    else
        json_null(json, "target");
    json_open_lines(json, "targets", '[');
    for (target_id id = 1; id <= count; id++)
        put_target(json, NULL, stats, id);
    json_close(json, ']');
}

static void put_ratio(struct json *json, const struct recording_totals *totals)
{
    if (totals->cpu_accounted_ns)
        json_decimal(json, "cpu_sampled_ratio", cpu_account_ratio(totals), 4);
    else
        json_null(json, "cpu_sampled_ratio");
}

static void put_losses(struct json *json, const uint64_t losses[LOSS_COUNT])
{
    json_open_lines(json, "losses", '{');
    for (int i = 0; i < LOSS_COUNT; i++)
        json_number(json, profile_loss_name(i), losses[i]);
    json_close(json, '}');
}

static void put_microstates(struct json *json, const struct stats *stats,
                            const struct recording_totals *totals)
{
    size_t count;
    struct microstate_row *rows =
        microstates_rows(stats->microstates, recording_get_threads(stats->source.recording),
                         stats->source.header->start_monotonic, totals->end_monotonic, &count);

    stats_put_microstates(json, stats->source.profile, rows, count);
    free(rows);
}

static void write_stats(const struct stats *stats, const struct recording_totals *totals)
{
    const struct recording_header *header = stats->source.header;
    uint64_t unknown_frames = totals->unknown_erlang_frames + totals->unknown_native_frames;
    struct json json = {stats->file};

    json_open_lines(&json, NULL, '{');
    json_number(&json, "samples", totals->samples);
    json_number(&json, "left_out", totals->left_out);
    json_number(&json, "idle", totals->idle.samples);
    json_number(&json, "unknown_weight", totals->unknown);
    json_number(&json, "erlang_samples", totals->erlang_samples);
    json_number(&json, "complete_stacks", totals->complete_stacks);
    json_number(&json, "truncated_stacks", totals->truncated_stacks);
    json_number(&json, "frames", totals->frames);
    json_number(&json, "erlang_frames", totals->erlang_frames);
    json_number(&json, "unknown_frames", unknown_frames);
    json_number(&json, "unknown_erlang_frames", totals->unknown_erlang_frames);
    json_number(&json, "unknown_native_frames", totals->unknown_native_frames);
    json_number(&json, "lost_events",
                totals->losses[LOSS_RING_FULL] + totals->losses[LOSS_BAD_SAMPLE]);
    json_ms(&json, "attach_ms", totals->attach_ns);
    json_ms(&json, "duration_ms",
            totals->end_monotonic > header->start_monotonic
                ? totals->end_monotonic - header->start_monotonic
                : 0);
    json_ms(&json, "gaps_ms", (uint64_t)(output_source_gap_seconds(&stats->source, totals) * 1e9));
    json_ms(&json, "profiler_cpu_ms", totals->profiler_cpu_ns);
    json_number(&json, "peak_rss_kb", totals->peak_rss_kb);
    json_number(&json, "cpu_samples", totals->cpu_samples);
    json_ms(&json, "cpu_sampled_ms", totals->cpu_sampled_ns);
    json_ms(&json, "cpu_accounted_ms", totals->cpu_accounted_ns);
    put_ratio(&json, totals);
    json_bool(&json, "cut", totals->cut);
    json_text_or_null(&json, "trigger", header->trigger);
    put_targets(&json, stats);
    stats_put_events(&json, &stats->source, &stats->samples, totals);
    if (!totals->left_out) /* else the samples do not cover the threads' time */
        put_microstates(&json, stats, totals);
    put_losses(&json, totals->losses);
    json_close(&json, '}');
    putc('\n', stats->file);
}

static int stats_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct stats *stats = state;

    (void)error;
    if (totals) {
        sum_times(stats);
        write_stats(stats, totals);
    }
    counts_free(&stats->samples);
    counts_free(&stats->cpu_ns);
    counts_free(&stats->sampled_ns);
    microstates_free(stats->microstates);
    free(stats);
    return 0;
}

const struct output_format stats_json_format = {
    .name = "stats",
    .lists_idle = true,
    .begin = stats_begin,
    .sample = stats_sample,
    .finish = stats_finish,
};
