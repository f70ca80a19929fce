// SPDX-License-Identifier: Apache-2.0
/* The numbers of a recording as JSON, for --stats. */
#include "output/formats.h"

#include <stdlib.h>

#include "output/summary/cpu_account.h"
#include "output/stats/events.h"
#include "output/stats/microstates.h"
#include "util/alloc.h"

struct stats {
    FILE *file;
    struct output_source source;
    struct counts samples; /* by event */
    struct microstates *microstates;
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
    counts_add(&stats->samples, sample->event, 1);
    microstates_add(stats->microstates, sample);
    return 0; /* all other numbers were counted while recording */
}

/* Write the CPU time of all threads of a target, by the kernel and by the sampling clock. */
static void put_target_time(struct json *json, const struct stats *stats, target_id id)
{
    const struct thread_times *times = recording_get_threads(stats->source.recording);
    uint64_t cpu = 0, sampled = 0;

    for (size_t i = 0; i < times->count; i++) {
        if (profile_get_thread(stats->source.profile, times->list[i].thread)->target != id)
            continue;
        cpu += times->list[i].cpu_ns;
        sampled += times->list[i].sampled_ns;
    }
    if (!cpu)
        return;
    json_decimal(json, "cpu_ms", (double)cpu / 1e6, 3);
    json_decimal(json, "sampled_ms", (double)sampled / 1e6, 3);
    json_decimal(json, "sampled_ratio", (double)sampled / (double)cpu, 4);
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
        json_number(json, loss_name(i), losses[i]);
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
    json_ms(&json, "profiler_cpu_ms", totals->profiler_cpu_ns);
    json_number(&json, "peak_rss_kb", totals->peak_rss_kb);
    json_number(&json, "cpu_samples", totals->cpu_samples);
    json_ms(&json, "cpu_sampled_ms", totals->cpu_sampled_ns);
    json_ms(&json, "cpu_accounted_ms", totals->cpu_accounted_ns);
    put_ratio(&json, totals);
    json_bool(&json, "cut", totals->cut);
    json_text_or_null(&json, "trigger", header->trigger);
    put_targets(&json, stats);
    stats_put_events(&json, &stats->source, &stats->samples);
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
    if (totals)
        write_stats(stats, totals);
    counts_free(&stats->samples);
    microstates_free(stats->microstates);
    free(stats);
    return 0;
}

const struct output_format stats_json_format = {
    .name = "stats",
    .begin = stats_begin,
    .sample = stats_sample,
    .finish = stats_finish,
};
