// SPDX-License-Identifier: Apache-2.0
/* A report for people: the summary, and then for each event the costs of functions with their
 * callers and callees (output/text/call_graph.h). */
#include "output/formats.h"

#include <stdlib.h>

#include "output/counts.h"
#include "output/output.h"
#include "output/rows.h"
#include "output/text/call_graph.h"
#include "output/weight.h"
#include "profile/events.h"
#include "util/alloc.h"

/* What the report of one event is made of, by stack in the view. */
struct text_event {
    struct weight weight;
    struct counts sums;
    bool has_rows; /* the weight is a value of an event other than cpu */
    struct counts samples;
    struct counts twice;  /* hits with two stacks, by the frames that both stacks share */
    struct row_part last; /* of the sample before */
    struct row_whole whole;
    struct row_cells cells;
};

struct text_output {
    FILE *file;
    struct output_source source;
    void *summary;             /* state of summary_format */
    struct text_event *events; /* by id */
    uint32_t event_count;
};

static void init_event(struct text_event *event, const struct output_source *source, event_id id)
{
    const struct weight weight = weight_with_unit(source, id);

    *event = (struct text_event){
        .weight = weight,
        .has_rows = !event_is_cpu(source->profile, id) && !weight.is_one && !weight.is_metric,
        .whole.has_parts = event_is_sched(source->profile, id),
    };
}

static void free_event(struct text_event *event)
{
    counts_free(&event->sums);
    counts_free(&event->samples);
    counts_free(&event->twice);
    row_interval_free_whole(&event->whole);
    row_cells_free(&event->cells);
}

static void *text_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct text_output *text;

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
    text->events = xcalloc(text->event_count + 1, sizeof(*text->events));
    for (event_id id = 1; id <= text->event_count; id++)
        init_event(&text->events[id], source, id);
    return text;
}

/* Two parts of one hit have most of their stacks in common, unless roots tell them apart. These
 * frames have one sample of it. */
static void add_common(struct text_output *text, struct text_event *event,
                       const struct sample *before, const struct sample *sample,
                       const struct row_part *part)
{
    const struct row_part common = row_interval_in_common(&event->last, part);
    struct view *view = text->source.view;
    struct sample both = *sample;
    view_stack_id stack;

    if (!common.samples || view_root_of_sample(view, before) != view_root_of_sample(view, sample))
        return;
    both.stack = profile_common_stack(text->source.profile, before->stack, sample->stack);
    stack = view_of_sample(view, &both);
    counts_add(&event->sums, stack, 0);
    counts_add(&event->twice, stack, 1);
    row_cells_add(&event->cells, stack, &common);
}

static void add_sample(struct text_output *text, struct text_event *event,
                       const struct sample *sample)
{
    view_stack_id stack = view_of_sample(text->source.view, sample);
    bool is_of_hit = row_interval_has_hit(&event->whole, sample);
    const struct sample before = event->whole.last;
    struct row_part part;

    counts_add(&event->sums, stack, sample_weight(&event->weight, sample));
    if (!event->has_rows)
        return;
    part = row_interval_add_whole(&event->whole, sample, event->weight.value);
    if (is_of_hit)
        add_common(text, event, &before, sample, &part);
    event->last = part;
    if (!part.value)
        return;
    part.hit = 0; /* parts of one hit are in different stacks */
    counts_add(&event->samples, stack, 1);
    row_cells_add(&event->cells, stack, &part);
}

static int text_sample(void *state, const struct sample *sample, struct error *error)
{
    struct text_output *text = state;

    struct text_event *event = &text->events[sample->event];

    if (output_source_shows(&text->source, sample->event)) {
        if (!idle_is_left_out(&text->source, sample))
            add_sample(text, event, sample);
        else if (event->has_rows) /* functions have a share of all of the time */
            row_interval_add_whole(&event->whole, sample, event->weight.value);
    }
    return summary_format.sample(text->summary, sample, error);
}

/* ---- the report ---- */

/* The functions of each stack, one list after the other. */
struct paths {
    uint32_t *functions;
    size_t count, room;
    size_t *ends; /* by stack; a list begins where the list of the stack before ends */
    size_t end_room;
};

static void paths_add(struct paths *paths, view_stack_id stack, const struct call_graph *graph)
{
    for (size_t i = 0; i < graph->path_count; i++) {
        paths->functions =
            xgrow(paths->functions, &paths->room, paths->count, sizeof(*paths->functions));
        paths->functions[paths->count++] = graph->path[i];
    }
    paths->ends = xgrow(paths->ends, &paths->end_room, stack, sizeof(*paths->ends));
    paths->ends[stack] = paths->count;
}

struct adding {
    const struct paths *paths;
    const struct row_whole *whole;
    struct rows *functions;
};

static void add_cell(void *context, uint32_t stack, const struct row_part *part)
{
    struct adding *adding = context;
    const struct paths *paths = adding->paths;

    for (size_t i = paths->ends[stack - 1]; i < paths->ends[stack]; i++)
        rows_add(adding->functions, paths->functions[i], adding->whole, part);
}

/* Write the report with the intervals of functions. */
static void write_rows(const struct text_output *text, const struct text_event *event, event_id id,
                       const char *name, const struct call_graph *graph, const struct paths *paths,
                       bool is_part)
{
    struct row_whole whole = row_cells_whole(&event->cells, &event->whole);
    struct call_rows rows = {
        .whole = &whole,
        .cover = rows_cover(&text->source, id, event->weight.value, &whole, is_part),
    };
    struct adding adding = {paths, &whole, &rows.functions};

    row_cells_each(&event->cells, add_cell, &adding);
    call_report_write(text->file, graph, &event->weight, name, &rows);
    rows_free(&rows.functions);
    row_interval_free_whole(&whole);
}

static uint64_t count_at(const struct counts *counts, uint32_t id)
{
    return id < counts->size ? counts->of[id] : 0;
}

/* Two stacks of one hit count it twice where they share frames. A negative number of samples
 * corrects the sums there; unsigned numbers wrap. */
static void write_report(const struct text_output *text, event_id id, bool is_part)
{
    const struct profile *profile = text->source.profile;
    const char *name = profile_text(profile, profile_get_event(profile, id)->name);
    const struct text_event *event = &text->events[id];
    struct paths paths = {0};
    struct call_graph graph;

    call_graph_init(&graph, false);
    for (view_stack_id stack = 1; stack < event->sums.size; stack++) {
        uint64_t samples = count_at(&event->samples, stack) - count_at(&event->twice, stack);

        graph.path_count = 0;
        if (event->sums.of[stack] || samples)
            call_graph_add(&graph, text->source.view, stack, event->sums.of[stack], samples);
        if (event->has_rows)
            paths_add(&paths, stack, &graph);
    }
    if (event->has_rows)
        write_rows(text, event, id, name, &graph, &paths, is_part);
    else
        call_report_write(text->file, &graph, &event->weight, name, NULL);
    call_graph_free(&graph);
    free(paths.functions);
    free(paths.ends);
}

static int text_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct text_output *text = state;
    int result = summary_format.finish(text->summary, totals, error);

    for (event_id id = 1; id <= text->event_count; id++) {
        if (totals)
            write_report(text, id, totals->left_out > 0);
        free_event(&text->events[id]);
    }
    free(text->events);
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
