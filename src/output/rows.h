// SPDX-License-Identifier: Apache-2.0
/* The rows of a table by one value of an event, each with the number of its samples and its
 * interval (profile/row_interval.h). Ids of rows are small and dense. */
#pragma once

#include "output/number_text.h"
#include "output/output.h"
#include "profile/row_interval.h"

/* ---- row_cells.c ---- */

/*
 * Parts of rows (profile/row_interval.h) by a preliminary id, for rows that are known only at the
 * end. A row can then have several ids, and an id can belong to several rows.
 *
 * A cell has all parts of one id and window. Where there would be too many cells, each two
 * neighbouring windows become one, which makes intervals no less sound.
 */

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

/* ---- rows.c ---- */

struct rows {
    struct row_sum *of; /* by id, below `size` */
    size_t size;
};

void rows_add(struct rows *rows, uint32_t id, const struct row_whole *whole,
              const struct row_part *part);
void rows_free(struct rows *rows);

struct row {
    uint32_t id;
    uint64_t value, samples;
    double half; /* of the 95 % interval: 0 if the value is exact, or of a recording without totals;
                  * NAN if it is unknown */
};

/* The rest of a table: rows that chance explains, rows below the top, and samples of no row. */
struct rows_rest {
    uint64_t rows, value, samples;
    bool is_all; /* there is no other row */
};

/* Store the rows with the greatest values that are not there by chance, the greatest first. Return
 * their number, at most `max`. They and *ret_rest add up to the whole. */
size_t rows_top(const struct rows *rows, const struct row_whole *whole,
                const struct row_cover *cover, struct row *ret_top, size_t max,
                struct rows_rest *ret_rest);

/* What is known of the total of a value of an event: nothing of event cpu. `is_part`: samples were
 * not selected. */
struct row_cover rows_cover(const struct output_source *source, event_id event, uint32_t value,
                            const struct row_whole *whole, bool is_part);
/* The same by another summary of the event, or none. */
struct row_cover rows_cover_by(const struct profile *profile, const struct event_summary *summary,
                               event_id event, uint32_t value, const struct row_whole *whole,
                               bool is_part);

/* Append "other (12 rows)", with advice if it is all of the table, or "other" if it has no rows.
 * `what` is the singular: "row". */
void rows_rest_text(const struct rows_rest *rest, const char *what, struct buffer *text);
