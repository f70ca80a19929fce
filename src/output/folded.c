// SPDX-License-Identifier: Apache-2.0
/*
 * Folded stacks, one line each: "root;...;leaf WEIGHT", as output/stack_lines.h sorts and escapes
 * them. In a comparison a line has two weights, as with flamegraph.pl and difffolded.pl: first that
 * of side 0, scaled, then that of side 1.
 */
#include "output/formats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "output/counts.h"
#include "output/stack_lines.h"
#include "output/weight.h"
#include "util/alloc.h"

struct folded {
    FILE *file;
    struct output_source source;
    struct weight weight;
    struct counts counts[2]; /* by side; only [0] without a comparison */
};

static void *folded_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct folded *folded = xcalloc(1, sizeof(*folded));

    (void)error;
    folded->file = file;
    folded->source = *source;
    folded->weight = weight_of_event(source, source->event);
    return folded;
}

static int folded_sample(void *state, const struct sample *sample, struct error *error)
{
    struct folded *folded = state;
    const struct output_source *source = &folded->source;
    int side = output_side(source, sample);

    (void)error;
    counts_add(&folded->counts[side], view_of_sample(source->view, sample),
               sample_weight(&folded->weight, sample));
    return 0;
}

static double scale_of(const struct folded *folded)
{
    double totals[2] = {0};

    if (!folded->source.comparison)
        return 1;
    for (int side = 0; side < 2; side++)
        for (size_t id = 0; id < folded->counts[side].size; id++)
            totals[side] += (double)folded->counts[side].of[id];
    return comparison_scale(folded->source.comparison, totals);
}

struct folded_writer {
    const struct folded *folded;
    double scale;
};

static void write_line(void *context, const char *line, const uint64_t sums[2])
{
    const struct folded_writer *writer = context;
    const struct folded *folded = writer->folded;

    if (folded->source.comparison)
        fprintf(folded->file, "%s %.0f %" PRIu64 "\n", line, (double)sums[0] * writer->scale,
                sums[1]);
    else
        fprintf(folded->file, "%s %" PRIu64 "\n", line, sums[0]);
}

static uint64_t count_of(const struct counts *counts, view_stack_id id)
{
    return id < counts->size ? counts->of[id] : 0;
}

/* Stacks that differ only in properties that are not shown share a line. */
static void folded_write(const struct folded *folded)
{
    const struct counts *counts = folded->counts;
    size_t room = counts[0].size > counts[1].size ? counts[0].size : counts[1].size;
    struct stack_lines lines;

    stack_lines_init(&lines);
    for (view_stack_id id = 1; id < room; id++) {
        const uint64_t sums[2] = {count_of(&counts[0], id), count_of(&counts[1], id)};
        const struct view_frame *frames;
        size_t count;

        if (!sums[0] && !sums[1])
            continue;
        count = view_frames(folded->source.view, id, &frames);
        stack_lines_add(&lines, frames, count, sums);
    }
    stack_lines_each(&lines, write_line, &(struct folded_writer){folded, scale_of(folded)});
    stack_lines_free(&lines);
}

static int folded_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct folded *folded = state;

    (void)error;
    if (totals)
        folded_write(folded);
    counts_free(&folded->counts[0]);
    counts_free(&folded->counts[1]);
    free(folded);
    return 0;
}

const struct output_format folded_format = {
    .name = "folded",
    .suffixes = {".folded", ".folded.gz"},
    .one_event = true,
    .comparing = &folded_format,
    .begin = folded_begin,
    .sample = folded_sample,
    .finish = folded_finish,
};
