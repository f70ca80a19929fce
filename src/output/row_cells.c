// SPDX-License-Identifier: Apache-2.0
#include "output/row_cells.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/number.h"

enum { SHIFT_MAX = 31 };

struct row_cell {
    uint32_t id;
    struct row_part part;
};

/* The window of the cells that a window is in. Both are numbered from 1 on. */
static uint32_t window_of(const struct row_cells *cells, uint32_t window)
{
    return ((window - 1) >> cells->shift) + 1;
}

/* Add a part to the last cell of its id, if that is of the same window; else it becomes a cell at
 * `*count`, for which there is room. */
static void put(struct row_cells *cells, size_t *count, uint32_t id, const struct row_part *part)
{
    uint32_t last = cells->last[id];
    struct row_part *known;

    if (!last || cells->list[last - 1].part.window != part->window) {
        cells->list[*count] = (struct row_cell){id, *part};
        *count += 1;
        cells->last[id] = (uint32_t)*count;
        return;
    }
    known = &cells->list[last - 1].part;
    known->samples += part->samples;
    known->value = saturating_sum(known->value, part->value);
    known->sampled += part->sampled;
    known->chance += part->chance;
}

/* Make each two windows one. */
static void join_windows(struct row_cells *cells)
{
    size_t count = 0;

    cells->shift++;
    memset(cells->last, 0, cells->last_room * sizeof(*cells->last));
    for (size_t i = 0; i < cells->count; i++) {
        struct row_cell cell = cells->list[i];

        cell.part.window = ((cell.part.window - 1) >> 1) + 1;
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
    for (size_t i = 0; i < cells->count; i++)
        each(context, cells->list[i].id, &cells->list[i].part);
}
