// SPDX-License-Identifier: Apache-2.0
#include "output/prof/prof_grid.h"

#include <string.h>

#include "util/utf8.h"

/* A longer name moves the numbers of its row, not those of all rows: a recording from elsewhere can
 * have names of many kilobytes. */
enum { FIRST_MOST = 72 };

struct prof_grid prof_grid_begin(const struct prof_column *columns, size_t count)
{
    struct prof_grid grid = {.column_count = count};

    memcpy(grid.columns, columns, count * sizeof(*columns));
    for (size_t i = 0; i < count; i++)
        grid.widths[i] = columns[i].width;
    for (size_t i = 0; i < count; i++)
        prof_grid_add(&grid, columns[i].title);
    return grid;
}

void prof_grid_add(struct prof_grid *grid, const char *text)
{
    size_t column = grid->cells % grid->column_count, width = utf8_cells(text);

    if (!column && width > FIRST_MOST)
        width = FIRST_MOST;
    if (width > grid->widths[column])
        grid->widths[column] = width;
    if (grid->cells >= grid->column_count && *text)
        grid->has_text[column] = true;
    buffer_put(&grid->text, text, strlen(text) + 1);
    grid->cells++;
}

static void write_cell(const struct prof_grid *grid, size_t column, const char *text, FILE *file)
{
    size_t width = utf8_cells(text);
    int blanks = width < grid->widths[column] ? (int)(grid->widths[column] - width) : 0;

    if (!column)
        fprintf(file, "%s%*s", text, blanks, "");
    else if (grid->columns[column].in_brackets)
        fprintf(file, "  [%*s%s]", blanks, "", text);
    else
        fprintf(file, "  %*s%s", blanks, "", text);
}

void prof_grid_write(struct prof_grid *grid, FILE *file)
{
    const char *text = grid->text.data;

    for (size_t i = 0; i < grid->cells; i++, text += strlen(text) + 1) {
        size_t column = i % grid->column_count;

        if (!grid->columns[column].is_optional || grid->has_text[column])
            write_cell(grid, column, text, file);
        if (column + 1 == grid->column_count)
            putc('\n', file);
    }
    buffer_free(&grid->text);
}
