// SPDX-License-Identifier: Apache-2.0
/* Fits a summary, or the text of a comparison, to the terminal on which it is printed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/* All zero: no terminal. */
struct terminal {
    bool is_terminal;
    bool has_styles; /* colours and bold: TERM is not dumb, and NO_COLOR is not set */
    int width;       /* columns; 0: not known */
};

/* Return the columns of COLUMNS or of the terminal; 0 if neither is known. */
int terminal_width(int fd);

/* Return the rows of the terminal; 0 if they are not known. */
int terminal_height(int fd);

/* Return how many rows a text takes on a terminal of so many columns (0: any), counted up to `most`
 * rows. Sequences that set a style take no room. */
size_t terminal_rows(const char *text, size_t size, int columns, size_t most);

/* What `fd` writes to. The process that writes outputs may not ask: call it before. */
struct terminal terminal_of(int fd);

/* Append a summary for the terminal: texts are wrapped at its width, names in tables that are too
 * wide are cut in their middle, headings are bold. Commands stay in one line, to be copied. */
void terminal_fit(const struct terminal *terminal, const char *summary, struct buffer *text);
