// SPDX-License-Identifier: Apache-2.0
/* The numbers of a recording as JSON, for --stats. */
#include "output/formats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "output/summary/cpu_account.h"
#include "output/json/json.h"
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

static void put_number(FILE *file, const char *key, uint64_t number)
{
    fprintf(file, "  \"%s\": %" PRIu64 ",\n", key, number);
}

static void put_ms(FILE *file, const char *key, uint64_t ns)
{
    fprintf(file, "  \"%s\": %" PRIu64 ".%03u,\n", key, ns / 1000000, (unsigned)(ns / 1000 % 1000));
}

static void put_text(FILE *file, const char *key, const char *text)
{
    fprintf(file, ", \"%s\": ", key);
    json_string_or_null(file, text);
}

/* Write the CPU time of all threads of a target, by the kernel and by the sampling clock. */
static void put_target_time(FILE *file, const struct stats *stats, target_id id)
{
    const struct thread_times *times = recording_get_threads(stats->source.recording);
    uint64_t cpu = 0, sampled = 0;

    for (size_t i = 0; i < times->count; i++) {
        if (profile_get_thread(stats->source.profile, times->list[i].thread)->target != id)
            continue;
        cpu += times->list[i].cpu_ns;
        sampled += times->list[i].sampled_ns;
    }
    if (cpu)
        fprintf(file, ", \"cpu_ms\": %.3f, \"sampled_ms\": %.3f, \"sampled_ratio\": %.4f",
                (double)cpu / 1e6, (double)sampled / 1e6, (double)sampled / (double)cpu);
}

static void put_target(const struct stats *stats, target_id id)
{
    const struct profile *profile = stats->source.profile;
    FILE *file = stats->file;
    const struct target_entry *target = profile_get_target(profile, id);

    fprintf(file, "{\"pid\": %u", target->pid);
    put_text(file, "node", profile_text(profile, target->node));
    put_text(file, "otp_release", profile_text(profile, target->otp_release));
    put_text(file, "erts", profile_text(profile, target->erts));
    put_text(file, "flavor", profile_text(profile, target->flavor));
    fprintf(file,
            ", \"schedulers\": %u, \"dirty_cpu_schedulers\": %u, \"dirty_io_schedulers\": %u"
            ", \"processes\": %u",
            target->schedulers, target->dirty_cpu_schedulers, target->dirty_io_schedulers,
            target->processes);
    put_text(file, "executable", profile_text(profile, target->executable));
    put_text(file, "container", profile_text(profile, target->container));
    put_text(file, "layout", profile_text(profile, target->layout));
    put_target_time(file, stats, id);
    putc('}', file);
}

static void put_targets(const struct stats *stats)
{
    uint32_t count = profile_counts(stats->source.profile).targets;
    FILE *file = stats->file;

    fputs("  \"target\": ", file);
    if (count)
        put_target(stats, 1);
    else
        fputs("null", file);
    fputs(",\n  \"targets\": [", file);
    for (target_id id = 1; id <= count; id++) {
        fputs(id > 1 ? ",\n    " : "\n    ", file);
        put_target(stats, id);
    }
    fputs(count ? "\n  ],\n" : "],\n", file);
}

static void put_ratio(FILE *file, const struct recording_totals *totals)
{
    if (totals->cpu_accounted_ns)
        fprintf(file, "  \"cpu_sampled_ratio\": %.4f,\n", cpu_account_ratio(totals));
    else
        fputs("  \"cpu_sampled_ratio\": null,\n", file);
}

static void put_losses(FILE *file, const uint64_t losses[LOSS_COUNT])
{
    fputs("  \"losses\": {", file);
    for (int i = 0; i < LOSS_COUNT; i++)
        fprintf(file, "%s\n    \"%s\": %" PRIu64, i ? "," : "", loss_name(i), losses[i]);
    fputs("\n  }\n", file);
}

static void put_microstates(const struct stats *stats, const struct recording_totals *totals)
{
    size_t count;
    struct microstate_row *rows =
        microstates_rows(stats->microstates, recording_get_threads(stats->source.recording),
                         stats->source.header->start_monotonic, totals->end_monotonic, &count);

    stats_put_microstates(stats->file, stats->source.profile, rows, count);
    free(rows);
}

static void write_stats(const struct stats *stats, const struct recording_totals *totals)
{
    const struct recording_header *header = stats->source.header;
    FILE *file = stats->file;

    fputs("{\n", file);
    put_number(file, "samples", totals->samples);
    put_number(file, "left_out", totals->left_out);
    put_number(file, "unknown_weight", totals->unknown);
    put_number(file, "erlang_samples", totals->erlang_samples);
    put_number(file, "complete_stacks", totals->complete_stacks);
    put_number(file, "truncated_stacks", totals->truncated_stacks);
    put_number(file, "frames", totals->frames);
    put_number(file, "erlang_frames", totals->erlang_frames);
    put_number(file, "unknown_frames",
               totals->unknown_erlang_frames + totals->unknown_native_frames);
    put_number(file, "unknown_erlang_frames", totals->unknown_erlang_frames);
    put_number(file, "unknown_native_frames", totals->unknown_native_frames);
    put_number(file, "lost_events",
               totals->losses[LOSS_RING_FULL] + totals->losses[LOSS_BAD_SAMPLE]);
    put_ms(file, "attach_ms", totals->attach_ns);
    put_ms(file, "duration_ms",
           totals->end_monotonic > header->start_monotonic
               ? totals->end_monotonic - header->start_monotonic
               : 0);
    put_ms(file, "profiler_cpu_ms", totals->profiler_cpu_ns);
    put_number(file, "peak_rss_kb", totals->peak_rss_kb);
    put_number(file, "cpu_samples", totals->cpu_samples);
    put_ms(file, "cpu_sampled_ms", totals->cpu_sampled_ns);
    put_ms(file, "cpu_accounted_ms", totals->cpu_accounted_ns);
    put_ratio(file, totals);
    fprintf(file, "  \"cut\": %s,\n  \"trigger\": ", totals->cut ? "true" : "false");
    json_string_or_null(file, header->trigger);
    fputs(",\n", file);
    put_targets(stats);
    stats_put_events(file, &stats->source, &stats->samples);
    if (!totals->left_out) /* else the samples do not cover the threads' time */
        put_microstates(stats, totals);
    put_losses(file, totals->losses);
    fputs("}\n", file);
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
