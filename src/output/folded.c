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
    int side = output_side(source, sample);

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

/* Lines have whole weights. What rounding takes from a line goes to the next ones, so that they add
 * up to the total. A line of less than half a sample can be left out. */
struct folded_writer {
    const struct folded *folded;
    double scale;                    /* of side 0 */
    uint64_t amounts[2], written[2]; /* so far, by side */
};

static uint64_t whole_weight(struct folded_writer *writer, int side, uint64_t amount)
{
    uint64_t weight;

    writer->amounts[side] = saturating_sum(writer->amounts[side], amount);
    weight =
        weight_of_amount(&writer->folded->weight, writer->amounts[side]) - writer->written[side];
    writer->written[side] += weight;
    return writer->folded->weight.period ? weight : amount;
}

static void write_line(void *context, const char *line, const uint64_t sums[2])
{
    struct folded_writer *writer = context;
    const struct folded *folded = writer->folded;
    const uint64_t weights[2] = {whole_weight(writer, 0, sums[0]),
                                 whole_weight(writer, 1, sums[1])};

    if (!weights[0] && !weights[1])
        return;
    if (folded->source.comparison)
        fprintf(folded->file, "%s %.0f %" PRIu64 "\n", line, (double)weights[0] * writer->scale,
                weights[1]);
    else
        fprintf(folded->file, "%s %" PRIu64 "\n", line, weights[0]);
}

static uint64_t count_of(const struct counts *counts, view_stack_id id)
{
    return id < counts->size ? counts->of[id] : 0;
}

/* The amount that lines begin with: half a period if all of them together have less than that, so
 * that the first one has weight 1. */
static uint64_t first_amount(const struct folded *folded, int side)
{
    uint64_t total = 0;

    for (size_t id = 1; id < folded->counts[side].size; id++)
        total = saturating_sum(total, folded->counts[side].of[id]);
    return total && !weight_of_amount(&folded->weight, total) ? folded->weight.period / 2 : 0;
}

/* Stacks that differ only in properties that are not shown share a line. */
static void folded_write(const struct folded *folded)
{
    const struct counts *counts = folded->counts;
    size_t room = counts[0].size > counts[1].size ? counts[0].size : counts[1].size;
    struct folded_writer writer = {
        folded, scale_of(folded), {first_amount(folded, 0), first_amount(folded, 1)}, {0}};
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
