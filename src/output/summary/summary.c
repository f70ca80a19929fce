// SPDX-License-Identifier: Apache-2.0
/* The summary at the end of a recording, as text for people. */
#include "output/formats.h"

#include <stdlib.h>

#include "output/number_text.h"
#include "output/output.h"
#include "output/summary/summary_internal.h"
#include "output/summary/summary_text.h"
#include "profile/microstates.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/inferred_name.h"
#include "util/number.h"

/* Rows of the tables of a short summary. */
enum { FEW_EVENTS = 2, ROWS_OF_FEW = 5, ROWS_OF_MANY = 3 };

struct summary {
    FILE *file;
    struct output_source source;
    struct summary_event *events; /* by event id - 1 */
    uint32_t event_count;
    struct summary_processes processes;
    struct summary_growth growth;
    struct microstates *microstates;
    bool is_full;
};

static struct summary *begin(FILE *file, const struct output_source *source, bool is_full)
{
    struct summary *summary = xcalloc(1, sizeof(*summary));
    const struct profile *profile = source->profile;

    summary->file = file;
    summary->is_full = is_full;
    summary->source = *source;
    summary->event_count = profile_counts(profile).events;
    summary->events = xcalloc(summary->event_count, sizeof(*summary->events));
    for (event_id id = 1; id <= summary->event_count; id++)
        summary_event_init(&summary->events[id - 1], source, id);
    summary_event_processes_init(&summary->processes);
    summary->microstates = microstates_new(profile);
    return summary;
}

static void *full_begin(FILE *file, const struct output_source *source, struct error *error)
{
    (void)error;
    return begin(file, source, true);
}

static void *short_begin(FILE *file, const struct output_source *source, struct error *error)
{
    (void)error;
    return begin(file, source, false);
}

static int summary_sample(void *state, const struct sample *sample, struct error *error)
{
    struct summary *summary = state;
    uint32_t process = 0;

    (void)error;
    if (sample->process) {
        process = summary_event_process(&summary->processes, summary->source.profile, sample);
        summary_growth_add(&summary->growth, process, &sample->metrics);
    }
    summary_event_add(&summary->events[sample->event - 1], process, &summary->source, sample);
    if (output_source_shows(&summary->source, sample->event))
        microstates_add(summary->microstates, sample);
    return 0;
}

enum { TARGETS_SHOWN = 20 }; /* perf's text can have all processes of a host */

static void write_target(const struct summary *summary, target_id id)
{
    const struct recording *recording = summary->source.recording;
    const struct target_life *life = target_lives_find(recording_get_lives(recording), id);
    FILE *file = summary->file;
    struct buffer text = {0};

    summary_text_of_target(summary->source.profile, id, &text);
    if (life)
        summary_text_of_life(life, summary->source.header->start_monotonic, &text);
    fprintf(file, "%s %.*s\n", id == 1 ? "target   " : "         ", (int)text.size, text.data);
    buffer_free(&text);
}

/* Write the events: ", of cpu-clock at 100 Hz", or ": 12 cpu (cpu-clock at 100 Hz), 3 gc in 4.0 s".
 * An event that was recorded for a part of the time has these seconds. */
static void write_events(const struct summary *summary, const struct recording_totals *totals)
{
    const struct recording_header *header = summary->source.header;
    const struct profile *profile = summary->source.profile;
    FILE *file = summary->file;

    const char *before = ":";

    if (summary->source.events->count == 1 &&
        summary->events[summary->source.events->first - 1].is_cpu) {
        fprintf(file, ", of %s at %u Hz", header->event, header->frequency);
        return;
    }
    for (event_id id = 1; id <= summary->event_count; id++) {
        const struct summary_event *event = &summary->events[id - 1];

        if (!output_source_selects(&summary->source, id))
            continue;
        fprintf(file, "%s %s %s", before, number_text(event->samples).text,
                profile_text(profile, profile_get_event(profile, id)->name));
        if (event->is_cpu)
            fprintf(file, " (%s at %u Hz)", header->event, header->frequency);
        if (output_source_is_partial(&summary->source, id))
            fprintf(file, " in %.1f s", output_source_event_seconds(&summary->source, id, totals));
        before = ",";
    }
}

static void write_account(const struct summary *summary, const struct recording_totals *totals)
{
    struct buffer text = {0};

    if (cpu_account_text(summary->source.header, totals, &text))
        fprintf(summary->file, "clock     %.*s\n", (int)text.size, text.data);
    buffer_free(&text);
}

static void write_idle(const struct summary *summary, const struct recording_totals *totals)
{
    struct buffer text = {0};

    idle_text(&summary->source, totals, &text);
    if (text.size)
        fprintf(summary->file, "wall      %.*s\n", (int)text.size, text.data);
    buffer_free(&text);
}

/* Write the cost of the probes of all events, if there are several. */
static void write_cost(const struct summary *summary)
{
    const struct recording *recording = summary->source.recording;
    uint64_t cost = 0, target_cpu = 0;
    int events = 0;

    for (event_id id = 1; id <= summary->event_count; id++) {
        const struct event_summary *event = recording_get_summary(recording, id);

        if (!event || !event->target_cpu_ns)
            continue;
        events++;
        cost = saturating_sum(cost, event->cost_ns);
        if (target_cpu < event->target_cpu_ns)
            target_cpu = event->target_cpu_ns;
    }
    if (events > 1)
        fprintf(summary->file, "probes    %.2f %% of the VM's CPU time: %s of %s\n",
                number_text_percent(cost, target_cpu), number_text_amount(cost, UNIT_NS).text,
                number_text_amount(target_cpu, UNIT_NS).text);
}

/* Shorter gaps show nothing in the seconds of the line. */
static void write_gaps(const struct summary *summary, const struct recording_totals *totals)
{
    double seconds = output_source_gap_seconds(&summary->source, totals);

    if (seconds >= 0.1)
        fprintf(summary->file, "; nothing was recorded for another %.1f s", seconds);
}

/* Names of C functions that are less certain than others. */
static void write_inferred(const struct summary *summary)
{
    const struct profile *profile = summary->source.profile;
    uint32_t frames = profile_counts(profile).frames, count = 0;

    for (frame_id id = 1; id <= frames; id++) {
        const struct frame *frame = profile_get_frame(profile, id);

        count +=
            frame->kind == FRAME_NATIVE && profile_text(profile, frame->symbol)[0] == INFERRED_NAME;
    }
    if (count)
        fprintf(summary->file, "inferred  C functions whose names begin with %c: %u\n",
                INFERRED_NAME, count);
}

static void write_overview(const struct summary *summary, const struct recording_totals *totals)
{
    uint32_t targets = profile_counts(summary->source.profile).targets;
    FILE *file = summary->file;
    uint64_t samples = 0;

    for (uint32_t i = 0; i < summary->event_count; i++)
        samples += summary->events[i].samples;

    for (target_id id = 1; id <= targets && id <= TARGETS_SHOWN; id++)
        write_target(summary, id);
    if (targets > TARGETS_SHOWN)
        fprintf(file, "          and %u more\n", targets - TARGETS_SHOWN);
    fprintf(file, "samples   %s in %.1f s", number_text(samples).text,
            output_source_seconds(&summary->source, totals));
    write_events(summary, totals);
    write_gaps(summary, totals);
    fputs(totals->cut ? " (the recording was cut)\n" : "\n", file);
    if (summary->source.header->trigger[0])
        fprintf(file, "trigger   %s\n", summary->source.header->trigger);
    if (totals->left_out)
        fprintf(
            file,
            "left out  %s samples that are not selected; totals, histograms, coverage and losses "
            "count all samples\n",
            number_text(totals->left_out).text);
    if (totals->of_other_events)
        fprintf(file,
                "left out  %s samples of other events; coverage and losses count all events\n",
                number_text(totals->of_other_events).text);
    if (totals->unknown)
        fprintf(file, "unknown   %s samples without a known '%s' do not count\n",
                number_text(totals->unknown).text, summary->source.value);
    write_idle(summary, totals);
    write_account(summary, totals);
    write_cost(summary);
    if (!totals->samples)
        return;
    fputs("coverage  ", file);
    /* A recording that was read from text does not say which stacks are complete. */
    if (totals->erlang_samples)
        fprintf(file, "Erlang stacks: %.1f %% complete, %.1f %% truncated; ",
                number_text_percent(totals->complete_stacks, totals->erlang_samples),
                number_text_percent(totals->truncated_stacks, totals->erlang_samples));
    fprintf(file, "frames: %.2f %% unresolved\n",
            number_text_percent(totals->unknown_erlang_frames + totals->unknown_native_frames,
                                totals->frames));
    write_inferred(summary);
}

enum { MARKS_SHOWN = 20 };

static void write_marks(const struct summary *summary, const struct recording_totals *totals)
{
    const struct time_marks *marks = recording_get_marks(summary->source.recording);
    struct output_range range = output_source_range(&summary->source, totals);
    size_t count = 0;

    for (size_t i = 0; i < marks->count; i++) {
        uint64_t time = marks->list[i].time - summary->source.header->start_monotonic;

        if (time < range.from || time > range.to || ++count > MARKS_SHOWN)
            continue;
        fprintf(summary->file, "%s  %8.1f s  %s\n", count > 1 ? "" : "\nmarks\n",
                (double)time / 1e9, profile_text(summary->source.profile, marks->list[i].label));
    }
    if (count > MARKS_SHOWN)
        fprintf(summary->file, "  and %zu more\n", count - MARKS_SHOWN);
}

/* Return the times of threads; none if samples are left out: the others do not cover the times. */
static struct microstate_row *rows_of_threads(const struct summary *summary,
                                              const struct recording_totals *totals, size_t *count)
{
    *count = 0;
    return totals->left_out ? NULL
                            : microstates_rows(summary->microstates,
                                               recording_get_threads(summary->source.recording),
                                               summary->source.header->start_monotonic,
                                               totals->end_monotonic, count);
}

static void write_losses(FILE *file, const struct recording_totals *totals)
{
    bool any = false;

    for (int i = 0; i < LOSS_COUNT; i++) {
        if (!totals->losses[i])
            continue;
        fprintf(file, "%s  %12s  %s\n", any ? "" : "\nlost or incomplete\n",
                number_text(totals->losses[i]).text, profile_loss_sentence(i));
        any = true;
    }
}

/* Return how much of its tables the summary has. Of many events, each has less. */
static struct summary_extent extent_of(const struct summary *summary)
{
    uint32_t shown = 0;

    for (event_id id = 1; id <= summary->event_count; id++)
        shown += output_source_shows(&summary->source, id);
    if (summary->is_full)
        return (struct summary_extent){SUMMARY_ROWS, true};
    return (struct summary_extent){shown > FEW_EVENTS ? ROWS_OF_MANY : ROWS_OF_FEW, false};
}

static void write_summary(struct summary *summary, const struct recording_totals *totals)
{
    const struct summary_extent extent = extent_of(summary);
    size_t threads;
    struct microstate_row *rows = rows_of_threads(summary, totals, &threads);

    verdict_write(summary->file, &(struct verdict){
                                     .source = &summary->source,
                                     .totals = totals,
                                     .events = summary->events,
                                     .processes = &summary->processes,
                                     .growth = &summary->growth,
                                     .threads = rows,
                                     .thread_count = threads,
                                 });
    write_overview(summary, totals);
    write_marks(summary, totals);
    microstate_table_write(summary->file, summary->source.profile, rows, threads, extent.is_full);
    for (event_id id = 1; id <= summary->event_count; id++)
        if (output_source_shows(&summary->source, id))
            summary_event_write(summary->file, &summary->events[id - 1], &summary->processes,
                                &summary->source, id, totals, &extent);
    node_table_write(summary->file, &summary->source, totals, &extent);
    write_losses(summary->file, totals);
    if (!extent.is_full)
        fputs("\n--summary full shows more rows, histograms, run queues and each scheduler\n",
              summary->file);
    free(rows);
}

static int summary_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct summary *summary = state;

    (void)error;
    if (totals)
        write_summary(summary, totals);
    for (uint32_t i = 0; i < summary->event_count; i++)
        summary_event_free(&summary->events[i]);
    free(summary->events);
    summary_event_processes_free(&summary->processes);
    summary_growth_free(&summary->growth);
    microstates_free(summary->microstates);
    free(summary);
    return 0;
}

const struct output_format summary_format = {
    .name = "summary",
    .lists_idle = true,
    .begin = full_begin,
    .sample = summary_sample,
    .finish = summary_finish,
};

const struct output_format short_summary_format = {
    .name = "short summary",
    .lists_idle = true,
    .begin = short_begin,
    .sample = summary_sample,
    .finish = summary_finish,
};
