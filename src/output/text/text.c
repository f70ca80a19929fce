// SPDX-License-Identifier: Apache-2.0
/* A report for people: the summary, and then for each event the costs of functions with their
 * callers and callees (output/text/call_report.h). */
#include "output/formats.h"

#include <stdlib.h>

#include "output/idle.h"
#include "output/text/call_report.h"
#include "output/counts.h"
#include "output/weight.h"
#include "util/alloc.h"

struct text {
    FILE *file;
    struct output_source source;
    void *summary;       /* state of summary_format */
    struct counts *sums; /* by stack, for each event */
    struct weight *weights;
    uint32_t event_count;
};

static void *text_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct text *text;

    if (source->change) {
        error_set(error, ERROR_USAGE,
                  "--delta does not work with .txt, which can't show growth and release apart: use "
                  ".svg or .folded");
        return NULL;
    }
    text = xcalloc(1, sizeof(*text));
    text->file = file;
    text->source = *source;
    text->summary = summary_format.begin(file, source, error);
    text->event_count = profile_counts(source->profile).events;
    text->sums = xcalloc(text->event_count + 1, sizeof(*text->sums));
    text->weights = xcalloc(text->event_count + 1, sizeof(*text->weights));
    for (event_id id = 1; id <= text->event_count; id++)
        text->weights[id] = weight_with_unit(source, id);
    return text;
}

static int text_sample(void *state, const struct sample *sample, struct error *error)
{
    struct text *text = state;

    if ((!text->source.event || text->source.event == sample->event) &&
        !idle_is_left_out(&text->source, sample))
        counts_add(&text->sums[sample->event], view_of_sample(text->source.view, sample),
                   sample_weight(&text->weights[sample->event], sample));
    return summary_format.sample(text->summary, sample, error);
}

static void write_report(const struct text *text, event_id id)
{
    const struct profile *profile = text->source.profile;
    const struct counts *sums = &text->sums[id];
    struct call_graph graph;

    call_graph_init(&graph, false);
    for (view_stack_id stack = 1; stack < sums->size; stack++)
        if (sums->of[stack])
            call_graph_add(&graph, text->source.view, stack, sums->of[stack], 0);
    call_report_write(text->file, &graph, &text->weights[id],
                      profile_text(profile, profile_get_event(profile, id)->name));
    call_graph_free(&graph);
}

static int text_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct text *text = state;
    int result = summary_format.finish(text->summary, totals, error);

    for (event_id id = 1; id <= text->event_count; id++) {
        if (totals)
            write_report(text, id);
        counts_free(&text->sums[id]);
    }
    free(text->sums);
    free(text->weights);
    free(text);
    return result;
}

const struct output_format text_format = {
    .name = "text",
    .suffixes = {".txt", ".txt.gz"},
    .comparing = &changes_format,
    .lists_idle = true,
    .begin = text_begin,
    .sample = text_sample,
    .finish = text_finish,
};
