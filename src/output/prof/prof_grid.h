// SPDX-License-Identifier: Apache-2.0
/* A table of text whose columns are as wide as their longest cell: the first column begins at the
 * left, all others end at the right. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "util/buffer.h"

enum { PROF_GRID_COLUMNS = 9 };

struct prof_column {
    const char *title;
    size_t width;     /* at least */
    bool in_brackets; /* "[ 12.30]" */
    bool is_optional; /* left out if all of its cells are empty */
};

struct prof_grid {
    struct prof_column columns[PROF_GRID_COLUMNS];
    size_t column_count;
    size_t widths[PROF_GRID_COLUMNS];
    bool has_text[PROF_GRID_COLUMNS]; /* in a cell below the title */
    size_t cells;
    struct buffer text; /* of all cells, row by row, each with a NUL */
};

/* At most PROF_GRID_COLUMNS columns. */
struct prof_grid prof_grid_begin(const struct prof_column *columns, size_t count);

/* Add a cell to the row, or begin the next row. */
void prof_grid_add(struct prof_grid *grid, const char *text);

/* Write the table, and free it. */
void prof_grid_write(struct prof_grid *grid, FILE *file);
