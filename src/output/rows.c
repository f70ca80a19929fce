// SPDX-License-Identifier: Apache-2.0
#include "output/rows.h"

#include <stdlib.h>

#include "profile/events.h"
#include "util/alloc.h"
#include "util/number.h"

void rows_add(struct rows *rows, uint32_t id, const struct row_whole *whole,
              const struct row_part *part)
{
    rows->of = xgrow(rows->of, &rows->size, id, sizeof(*rows->of));
    row_add(&rows->of[id], whole, part);
}

void rows_free(struct rows *rows)
{
    free(rows->of);
    *rows = (struct rows){0};
}

/* Put a row in its place in a list in falling order, which has room for `max`. Return the number of
 * rows in the list. */
static size_t insert(struct row *top, size_t count, size_t max, const struct row *row)
{
    size_t at = count;

    if (count == max && row->value <= top[max - 1].value)
        return count;
    if (count < max)
        count++;
    else
        at--;
    for (; at && top[at - 1].value < row->value; at--)
        top[at] = top[at - 1];
    top[at] = *row;
    return count;
}

size_t rows_top(const struct rows *rows, const struct row_whole *whole,
                const struct row_cover *cover, struct row *ret_top, size_t max,
                struct rows_rest *ret_rest)
{
    struct rows_rest rest = {.value = whole->sum.value, .samples = whole->sum.samples};
    size_t found = 0;

    for (size_t id = 0; id < rows->size; id++) {
        const struct row_sum *sum = &rows->of[id];
        struct row row = {(uint32_t)id, sum->value, sum->samples, row_half(sum, whole, cover)};

        if (!row.value)
            continue;
        rest.rows++;
        if (row_is_chance(sum, cover, row.half))
            continue;
        if (!cover->is_known)
            row.half = 0;
        found = insert(ret_top, found, max, &row);
    }
    rest.rows -= found;
    for (size_t i = 0; i < found; i++) {
        rest.value -= ret_top[i].value < rest.value ? ret_top[i].value : rest.value;
        rest.samples -= ret_top[i].samples;
    }
    *ret_rest = rest;
    return found;
}

struct row_cover rows_cover(const struct output_source *source, event_id event, uint32_t value,
                            const struct row_whole *whole, bool is_part)
{
    const struct profile *profile = source->profile;
    const char *name = profile_text(profile, profile_get_event(profile, event)->name);
    const struct event_summary *summary = recording_get_summary(source->recording, event);
    bool has_total = !event_is_cpu(profile, event) && !event_is_wall(profile, event) &&
                     !event_value_is_listed(name, value);

    return row_cover_of(whole, has_total ? summary : NULL, value, is_part);
}
