// SPDX-License-Identifier: Apache-2.0
/* What a person wants to know at the end of a recording, as text. */
#include "output/formats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "output/counts.h"
#include "output/number_text.h"
#include "output/target_text.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/intern.h"

#define TOP 10

/* One process, under whatever name. */
struct process_key {
    uint64_t identity;
    target_id target;
    string_id pid;
};

struct summary {
    FILE *file;
    struct output_source source;
    uint64_t weight;
    struct counts self;      /* by symbol */
    struct counts processes; /* by id in keys */
    struct intern keys;      /* struct process_key */
    process_id *newest;      /* by id in keys - 1: the process with its newest name */
};

static void *summary_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct summary *summary = xcalloc(1, sizeof(*summary));

    (void)error;
    summary->file = file;
    summary->source = *source;
    intern_init(&summary->keys, sizeof(struct process_key), sizeof(struct process_key));
    return summary;
}

static void count_process(struct summary *summary, const struct sample *sample)
{
    const struct process_entry *process =
        profile_get_process(summary->source.profile, sample->process);
    struct process_key key = {process->identity, process->target, process->pid};
    uint32_t known = summary->keys.count, id = intern_add(&summary->keys, &key);

    if (id > known)
        summary->newest =
            xreallocarray(summary->newest, summary->keys.capacity, sizeof(*summary->newest));
    summary->newest[id - 1] = sample->process;
    counts_add(&summary->processes, id, sample->values[0]);
}

static int summary_sample(void *state, const struct sample *sample, struct error *error)
{
    struct summary *summary = state;
    const struct profile *profile = summary->source.profile;

    (void)error;
    summary->weight += sample->values[0];
    if (sample->process)
        count_process(summary, sample);
    if (sample->stack) {
        frame_id leaf = profile_get_stack(profile, sample->stack)->frame;

        counts_add(&summary->self, profile_get_frame(profile, leaf)->symbol, sample->values[0]);
    }
    return 0;
}

static void write_target(FILE *file, const struct profile *profile, target_id id)
{
    struct buffer text = {0};

    target_text(profile, id, &text);
    fprintf(file, "%s %.*s\n", id == 1 ? "target   " : "         ", (int)text.size, text.data);
    buffer_free(&text);
}

static void write_overview(const struct summary *summary, const struct recording_totals *totals)
{
    const struct recording_header *header = summary->source.header;
    uint32_t targets = profile_counts(summary->source.profile).targets;
    uint64_t ns = totals->end_monotonic > header->start_monotonic
                      ? totals->end_monotonic - header->start_monotonic
                      : 0;
    FILE *file = summary->file;

    for (target_id id = 1; id <= targets; id++)
        write_target(file, summary->source.profile, id);
    fprintf(file, "samples   %s in %.1f s, of %s at %u Hz%s\n", number_text(totals->samples).text,
            (double)ns / 1e9, header->event, header->frequency,
            totals->cut ? " (the recording was cut)" : "");
    fprintf(file, "coverage  Erlang stacks: %.1f %% complete, %.1f %% truncated; frames: ",
            percent_of(totals->complete_stacks, totals->erlang_samples),
            percent_of(totals->truncated_stacks, totals->erlang_samples));
    fprintf(
        file, "%.2f %% unresolved\n",
        percent_of(totals->unknown_erlang_frames + totals->unknown_native_frames, totals->frames));
}

static void write_line(const struct summary *summary, uint64_t weight)
{
    fprintf(summary->file, "  %9.1f ms %5.1f %%  ", (double)weight / 1e6,
            percent_of(weight, summary->weight));
}

static void write_functions(const struct summary *summary)
{
    struct count_of_id top[TOP];
    size_t count = counts_top(&summary->self, top, TOP);

    if (count)
        fputs("\nfunctions with most CPU time of their own\n", summary->file);
    for (size_t i = 0; i < count; i++) {
        write_line(summary, top[i].count);
        fprintf(summary->file, "%s\n",
                top[i].id ? profile_text(summary->source.profile, top[i].id) : "[unknown]");
    }
}

static void write_processes(const struct summary *summary)
{
    const struct profile *profile = summary->source.profile;
    struct count_of_id top[TOP];
    size_t count = counts_top(&summary->processes, top, TOP);

    if (count)
        fputs("\nprocesses with most CPU time\n", summary->file);
    for (size_t i = 0; i < count; i++) {
        const struct process_entry *process =
            profile_get_process(profile, summary->newest[top[i].id - 1]);
        string_id name = process->name ? process->name : process->label;

        write_line(summary, top[i].count);
        fprintf(summary->file, "%s  %s\n", profile_text(profile, process->pid),
                profile_text(profile, name ? name : process->initial_call));
    }
}

static void write_losses(FILE *file, const struct recording_totals *totals)
{
    bool any = false;

    for (int i = 0; i < LOSS_COUNT; i++) {
        if (!totals->losses[i])
            continue;
        fprintf(file, "%s  %12s  %s\n", any ? "" : "\nlost or incomplete\n",
                number_text(totals->losses[i]).text, loss_sentence(i));
        any = true;
    }
}

static int summary_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct summary *summary = state;

    (void)error;
    if (totals) {
        write_overview(summary, totals);
        write_functions(summary);
        write_processes(summary);
        write_losses(summary->file, totals);
    }
    counts_free(&summary->self);
    counts_free(&summary->processes);
    intern_free(&summary->keys);
    free(summary->newest);
    free(summary);
    return 0;
}

const struct output_format summary_format = {
    .name = "summary",
    .begin = summary_begin,
    .sample = summary_sample,
    .finish = summary_finish,
};
