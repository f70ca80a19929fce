// SPDX-License-Identifier: Apache-2.0
/*
 * Columns of numbers and texts. Each column is compressed on its own while it grows: numbers of one
 * sort compress better without others between them, and memory holds compressed data.
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
    uint64_t size;        /* of the data in `packed`, uncompressed */
    z_stream stream;
    struct html_column *higher; /* gets a number's bytes after the first; NULL: they stay here */
};

/* All zero is empty. */
struct html_columns {
    struct html_column **list;
    size_t count;
};

/* Add a column; `name` is a format of printf(). html_columns_free() frees it. */
struct html_column *html_columns_add(struct html_columns *columns, const char *name, ...)
    __attribute__((format(printf, 2, 3)));
/* Split a column of large numbers that rarely repeat; call before its first number. The second byte
 * of each number goes to a new column NAME+, later bytes to NAME++. High bytes have a pattern that
 * low ones do not have. */
void html_columns_split(struct html_columns *columns, struct html_column *column);
void html_columns_free(struct html_columns *columns);

/* Append a number as a varint, or a signed number as a zigzag (util/buffer.h). */
void html_column_number(struct html_column *column, uint64_t number);
void html_column_signed(struct html_column *column, int64_t number);
/* Append a text and a NUL. */
void html_column_text(struct html_column *column, const char *text);

/* Compress the rest. Nothing may be appended after that. */
void html_column_close(struct html_column *column);

/* Write the compressed bytes of all columns, one after the other, as text (util/encode.h). All
 * columns must be closed. */
void html_columns_write(const struct html_columns *columns, FILE *file);
