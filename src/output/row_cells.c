// SPDX-License-Identifier: Apache-2.0
#include "output/rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/number.h"

enum { SHIFT_MAX = 31 };

struct row_cell {
    uint32_t id;
    struct row_part part;
    double of_hit; /* what the last hit has in `part.sampled` */
};

/* Return the window of the cells that contains a window. Both are numbered from 1 on. */
static uint32_t window_of(const struct row_cells *cells, uint32_t window)
{
    return ((window - 1) >> cells->shift) + 1;
}

/* Add a part to a cell of the same window. Two parts of one hit count as one sample. */
static void join(struct row_cell *cell, const struct row_part *part)
{
    const struct row_part last = {.samples = 1, .sampled = cell->of_hit};
    bool is_of_hit = part->hit && part->hit == cell->part.hit;
    struct row_part common = {0};

    if (is_of_hit)
        common = row_interval_in_common(&last, part);
    cell->of_hit = (is_of_hit ? cell->of_hit : 0) + part->sampled;
    cell->part.hit = part->hit;
    cell->part.samples += part->samples + common.samples;
    cell->part.value = saturating_sum(cell->part.value, part->value);
    cell->part.sampled += part->sampled;
    cell->part.chance += part->chance + common.chance;
}

/* Add a part to the last cell of its id, if that cell has the same window. Else make it a cell at
 * `*count`, where there is room. */
static void put(struct row_cells *cells, size_t *count, uint32_t id, const struct row_part *part)
{
    uint32_t last = cells->last[id];

    if (last && cells->list[last - 1].part.window == part->window) {
        join(&cells->list[last - 1], part);
        return;
    }
    cells->list[*count] = (struct row_cell){id, *part, part->sampled};
    *count += 1;
    cells->last[id] = (uint32_t)*count;
}

/* Join each two neighbouring windows of the cells to one. */
static void join_windows(struct row_cells *cells)
{
    size_t count = 0;

    cells->shift++;
    memset(cells->last, 0, cells->last_room * sizeof(*cells->last));
    for (size_t i = 0; i < cells->count; i++) {
        struct row_cell cell = cells->list[i];

        cell.part.window = ((cell.part.window - 1) >> 1) + 1;
        cell.part.hit = 0;
        put(cells, &count, cell.id, &cell.part);
    }
    cells->count = count;
}

static void keep_limit(struct row_cells *cells)
{
    if (cells->count < cells->limit || cells->count < ROW_CELLS_MAX)
        return;
    while (cells->count > ROW_CELLS_MAX / 2 && cells->shift < SHIFT_MAX)
        join_windows(cells);
    cells->limit = cells->count * 2;
}

void row_cells_add(struct row_cells *cells, uint32_t id, const struct row_part *part)
{
    struct row_part own = *part;

    keep_limit(cells);
    cells->last = xgrow(cells->last, &cells->last_room, id, sizeof(*cells->last));
    cells->list = xgrow(cells->list, &cells->room, cells->count, sizeof(*cells->list));
    own.window = window_of(cells, part->window);
    put(cells, &cells->count, id, &own);
}

void row_cells_free(struct row_cells *cells)
{
    free(cells->list);
    free(cells->last);
    *cells = (struct row_cells){0};
}

struct row_whole row_cells_whole(const struct row_cells *cells, const struct row_whole *whole)
{
    struct row_whole joined = {
        .sum = {.samples = whole->sum.samples,
                .value = whole->sum.value,
                .sampled = whole->sum.sampled,
                .chance = whole->sum.chance},
        .count = whole->count ? window_of(cells, whole->count) : 0,
    };

    joined.room = joined.count + 1;
    joined.windows = xcalloc(joined.room, sizeof(*joined.windows));
    for (uint32_t window = 1; window <= whole->count; window++)
        joined.windows[window_of(cells, window)] += whole->windows[window];
    for (uint32_t window = 1; window <= joined.count; window++) {
        joined.active += joined.windows[window] > 0;
        joined.sum.squares += joined.windows[window] * joined.windows[window];
    }
    return joined;
}

void row_cells_each(const struct row_cells *cells,
                    void (*each)(void *context, uint32_t id, const struct row_part *part),
                    void *context)
{
    for (size_t i = 0; i < cells->count; i++) {
        struct row_part part = cells->list[i].part;

        part.hit = 0;
        each(context, cells->list[i].id, &part);
    }
}
