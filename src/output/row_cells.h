// SPDX-License-Identifier: Apache-2.0
/*
 * Parts of rows (profile/row_interval.h) by a preliminary id, for rows that are known only at the
 * end. A row can then have several ids, and an id can belong to several rows.
 *
 * A cell has all parts of one id and window. Where there would be too many cells, each two
 * neighbouring windows become one, which makes intervals no less sound.
 */
#pragma once

#include "profile/row_interval.h"

enum { ROW_CELLS_MAX = 1 << 17 }; /* or twice the number of ids, if that is more */

/* All zero is empty. */
struct row_cells {
    struct row_cell *list;
    size_t count, room, limit;
    unsigned shift; /* a window of the cells is 1 << shift windows */
    uint32_t *last; /* by id: its last cell, plus 1 */
    size_t last_room;
};

void row_cells_add(struct row_cells *cells, uint32_t id, const struct row_part *part);
void row_cells_free(struct row_cells *cells);

/* The same whole with the windows of the cells, to be freed. */
struct row_whole row_cells_whole(const struct row_cells *cells, const struct row_whole *whole);

/* Pass all cells in time order to `each`. */
void row_cells_each(const struct row_cells *cells,
                    void (*each)(void *context, uint32_t id, const struct row_part *part),
                    void *context);
