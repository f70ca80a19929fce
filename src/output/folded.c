// SPDX-License-Identifier: Apache-2.0
/*
 * Folded stacks, one line each: "root;...;leaf WEIGHT", sorted by bytes. A ';' or line end inside
 * of a symbol is escaped (util/escape.h), and a '#' that would begin a comment.
 */
#include "output/formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/counts.h"
#include "output/weight.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/escape.h"

struct folded {
    FILE *file;
    struct output_source source;
    struct weight weight;
    struct counts counts;
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

    (void)error;
    counts_add(&folded->counts, view_of_sample(folded->source.view, sample),
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
    size_t offset; /* in the text of all lines; ended by NUL */
    uint64_t count;
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

/* Stacks that differ only in what is not shown here are one line. */
static void write_lines(FILE *file, const struct line *lines, size_t count, const char *text)
{
    for (size_t i = 0; i < count;) {
        const char *line = text + lines[i].offset;
        uint64_t sum = 0;

        for (; i < count && !strcmp(line, text + lines[i].offset); i++)
            sum += lines[i].count;
        fprintf(file, "%s %" PRIu64 "\n", line, sum);
    }
}

static void folded_write(const struct folded *folded)
{
    struct line *lines = xreallocarray(NULL, folded->counts.size, sizeof(*lines));
    struct buffer text = {0};
    size_t count = 0;

    for (view_stack_id id = 1; id < folded->counts.size; id++) {
        if (!folded->counts.of[id])
            continue;
        lines[count++] = (struct line){text.size, folded->counts.of[id]};
        put_line(folded->source.view, id, &text);
    }
    qsort_r(lines, count, sizeof(*lines), compare_lines, text.data);
    write_lines(folded->file, lines, count, text.data);
    buffer_free(&text);
    free(lines);
}

static int folded_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct folded *folded = state;

    (void)error;
    if (totals)
        folded_write(folded);
    counts_free(&folded->counts);
    free(folded);
    return 0;
}

const struct output_format folded_format = {
    .name = "folded",
    .suffixes = {".folded", ".folded.gz"},
    .one_event = true,
    .begin = folded_begin,
    .sample = folded_sample,
    .finish = folded_finish,
};
