// SPDX-License-Identifier: Apache-2.0
/*
 * Folded stacks, one line each: "root;...;leaf WEIGHT", as output/stack_lines.h sorts and escapes
 * them. In a comparison a line has two weights, as with flamegraph.pl and difffolded.pl: first the
 * scaled weight of side 0, then the weight of side 1.
 *
 * Times in periods are rounded in the order of lines. Stacks that begin with the same frames are
 * neighbours there, so each frame of a flame graph has the right sum too. A line that rounds to 0
 * is left out.
 */
#include "output/formats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "output/counts.h"
#include "output/stack_lines.h"
#include "output/weight.h"
#include "util/alloc.h"
#include "util/number.h"

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
    int side = output_source_side(source, sample);

    (void)error;
    counts_add(&folded->counts[side], view_of_sample(source->view, sample),
               sample_amount(&folded->weight, sample));
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
    double scale; /* of side 0 */
    struct weight_rounding roundings[2];
};

static uint64_t scaled(uint64_t amount, double scale)
{
    return scale == 1 ? amount : whole_part((double)amount * scale + 0.5);
}

static void begin_rounding(struct folded_writer *writer, int side, double scale)
{
    const struct counts *counts = &writer->folded->counts[side];
    uint64_t total = 0;

    for (size_t id = 0; id < counts->size; id++)
        total = saturating_sum(total, counts->of[id]);
    writer->roundings[side] = weight_rounding_begin(&writer->folded->weight, scaled(total, scale));
}

static void write_line(void *context, const char *line, const uint64_t sums[2])
{
    struct folded_writer *writer = context;
    const struct folded *folded = writer->folded;
    uint64_t before =
        weight_round(&writer->roundings[0], &folded->weight, scaled(sums[0], writer->scale));
    uint64_t after = weight_round(&writer->roundings[1], &folded->weight, sums[1]);

    if (folded->source.comparison && (before || after))
        fprintf(folded->file, "%s %" PRIu64 " %" PRIu64 "\n", line, before, after);
    else if (before)
        fprintf(folded->file, "%s %" PRIu64 "\n", line, before);
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
    struct folded_writer writer = {.folded = folded, .scale = scale_of(folded)};
    struct stack_lines lines;

    begin_rounding(&writer, 0, writer.scale);
    begin_rounding(&writer, 1, 1);
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
    stack_lines_each(&lines, write_line, &writer);
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
