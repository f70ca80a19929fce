// SPDX-License-Identifier: Apache-2.0
/*
 * Folded stacks, one line each: "root;...;leaf WEIGHT", sorted by bytes. In a symbol, ';', a line
 * end, and a '#' that would begin a comment are escaped (util/encode.h). In a comparison a line has
 * two weights, as with flamegraph.pl and difffolded.pl: first that of side 0, scaled, then that of
 * side 1.
 */
#include "output/formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/counts.h"
#include "output/weight.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/encode.h"

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

static bool must_escape(const char *text, size_t at)
{
    if (text[at] == '#')
        return !at && (text[1] == ' ' || !text[1]);
    return text[at] == ';' || text[at] == '\n';
}

struct line {
    size_t offset; /* in the text of all lines; the line ends with NUL */
    uint64_t counts[2];
};

static int compare_lines(const void *a, const void *b, void *text)
{
    const struct line *x = a, *y = b;

    return strcmp((char *)text + x->offset, (char *)text + y->offset);
}

static void put_line(struct view *view, view_stack_id id, struct buffer *text)
{
    const struct view_frame *frames;
    size_t count = view_frames(view, id, &frames);

    for (size_t i = 0; i < count; i++) {
        if (i)
            buffer_byte(text, ';');
        escape_put(text, frames[i].text, strlen(frames[i].text), must_escape);
    }
    if (!count)
        buffer_text(text, "[no stack]");
    buffer_byte(text, '\0');
}

static void write_line(const struct folded *folded, const char *line, const uint64_t sums[2],
                       double scale)
{
    if (folded->source.comparison)
        fprintf(folded->file, "%s %.0f %" PRIu64 "\n", line, (double)sums[0] * scale, sums[1]);
    else
        fprintf(folded->file, "%s %" PRIu64 "\n", line, sums[0]);
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

/* Write the sorted lines. Stacks that differ only in properties that are not shown share a line. */
static void write_lines(const struct folded *folded, const struct line *lines, size_t count,
                        const char *text)
{
    double scale = scale_of(folded);

    for (size_t i = 0; i < count;) {
        const char *line = text + lines[i].offset;
        uint64_t sums[2] = {0};

        for (; i < count && !strcmp(line, text + lines[i].offset); i++) {
            sums[0] += lines[i].counts[0];
            sums[1] += lines[i].counts[1];
        }
        write_line(folded, line, sums, scale);
    }
}

static uint64_t count_of(const struct counts *counts, view_stack_id id)
{
    return id < counts->size ? counts->of[id] : 0;
}

static void folded_write(const struct folded *folded)
{
    const struct counts *counts = folded->counts;
    size_t room = counts[0].size > counts[1].size ? counts[0].size : counts[1].size, count = 0;
    struct line *lines = xreallocarray(NULL, room, sizeof(*lines));
    struct buffer text = {0};

    for (view_stack_id id = 1; id < room; id++) {
        struct line line = {text.size, {count_of(&counts[0], id), count_of(&counts[1], id)}};

        if (!line.counts[0] && !line.counts[1])
            continue;
        lines[count++] = line;
        put_line(folded->source.view, id, &text);
    }
    qsort_r(lines, count, sizeof(*lines), compare_lines, text.data);
    write_lines(folded, lines, count, text.data);
    buffer_free(&text);
    free(lines);
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
