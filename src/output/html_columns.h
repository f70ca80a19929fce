// SPDX-License-Identifier: Apache-2.0
/*
 * Columns of numbers and texts, each compressed by itself while it grows: numbers of one sort
 * compress better without others between them, and what is held in memory is compressed.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

#include "util/buffer.h"

struct html_column {
    char name[32];
    struct buffer rest;   /* not compressed yet */
    struct buffer packed; /* zlib (RFC 1950), which browsers call "deflate" */
    uint64_t size;        /* of what was compressed */
    z_stream stream;
    struct html_column *higher; /* takes a number's bytes after its first; NULL: they are here */
};

/* All zero is none. */
struct html_columns {
    struct html_column **list;
    size_t count;
};

/* The column is freed with the others. */
struct html_column *html_columns_add(struct html_columns *columns, const char *name, ...)
    __attribute__((format(printf, 2, 3)));
/* For large numbers that are never alike, before the first: their second bytes go to a column
 * NAME+, the others to NAME++. High bytes have a pattern where low ones have none. */
void html_columns_split(struct html_columns *columns, struct html_column *column);
void html_columns_free(struct html_columns *columns);

/* Append a number as a varint, or one that may be negative as a zigzag (util/buffer.h). */
void html_column_number(struct html_column *column, uint64_t number);
void html_column_signed(struct html_column *column, int64_t number);
/* Append a text and a NUL. */
void html_column_text(struct html_column *column, const char *text);

/* Compress what is left: nothing may follow. */
void html_column_close(struct html_column *column);

/* When all are closed: their bytes, one column after the other (util/ascii.h). */
void html_columns_write(const struct html_columns *columns, FILE *file);
