// SPDX-License-Identifier: Apache-2.0
#include "output/rows.h"

#include <stdlib.h>

#include "output/counts.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/number.h"

void rows_add(struct rows *rows, uint32_t id, const struct row_whole *whole,
              const struct row_part *part)
{
    rows->of = xgrow(rows->of, &rows->size, id, sizeof(*rows->of));
    row_interval_add(&rows->of[id], whole, part);
}

void rows_free(struct rows *rows)
{
    free(rows->of);
    *rows = (struct rows){0};
}

size_t rows_top(const struct rows *rows, const struct row_whole *whole,
                const struct row_cover *cover, struct row *ret_top, size_t max,
                struct rows_rest *ret_rest)
{
    struct rows_rest rest = {.value = whole->sum.value, .samples = whole->sum.samples};
    struct count_of_id *top = xcalloc(max, sizeof(*top));
    struct counts values = {0};
    size_t found;

    for (size_t id = 0; id < rows->size; id++) {
        const struct row_sum *sum = &rows->of[id];

        rest.rows += sum->value > 0;
        if (sum->value && !row_interval_is_chance(sum, cover, row_interval_half(sum, whole, cover)))
            counts_add(&values, (uint32_t)id, sum->value);
    }
    found = counts_top(&values, top, max);
    rest.rows -= found;
    for (size_t i = 0; i < found; i++) {
        const struct row_sum *sum = &rows->of[top[i].id];

        ret_top[i] = (struct row){top[i].id, sum->value, sum->samples,
                                  cover->is_known ? row_interval_half(sum, whole, cover) : 0};
        rest.value -= sum->value < rest.value ? sum->value : rest.value;
        rest.samples -= sum->samples;
    }
    counts_free(&values);
    free(top);
    rest.is_all = !found;
    *ret_rest = rest;
    return found;
}

struct row_cover rows_cover_by(const struct profile *profile, const struct event_summary *summary,
                               event_id event, uint32_t value, const struct row_whole *whole,
                               bool is_part)
{
    bool has_total = !event_is_cpu(profile, event);

    if (event_is_wall(profile, event))
        return row_interval_cover_of_sweeps(whole, summary, value, is_part);
    return row_interval_cover(whole, has_total ? summary : NULL, value, is_part);
}

struct row_cover rows_cover(const struct output_source *source, event_id event, uint32_t value,
                            const struct row_whole *whole, bool is_part)
{
    return rows_cover_by(source->profile, recording_get_summary(source->recording, event), event,
                         value, whole, is_part);
}

void rows_rest_text(const struct rows_rest *rest, const char *what, struct buffer *text)
{
    buffer_text(text, "other");
    if (rest->rows)
        buffer_format(text, " (%s %s%s)", number_text(rest->rows).text, what,
                      rest->rows == 1 ? "" : "s");
    if (rest->rows && rest->is_all)
        buffer_text(text, ": chance explains each, record longer or raise --budget");
}
