// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Write a JSON string (RFC 8259, section 7) with its quotes. Valid UTF-8 is kept as it is. The
 * escapes also make the string safe inside of an HTML script element. */
void json_string(FILE *file, const char *text);
/* The same, but null for an empty text. */
void json_string_or_null(FILE *file, const char *text);

/* A JSON value that is being written; it puts the commas. `before` is "" at first. A key is NULL
 * for an element of an array and for the outermost value. */
struct json {
    FILE *file;
    const char *before; /* text before the next element */
};
/* `bracket` is '{' or '[' to open, '}' or ']' to close. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
/* Open an object that is an element of an array and begins a line. */
void json_row(struct json *json, bool first);
void json_text(struct json *json, const char *key, const char *text);
void json_number(struct json *json, const char *key, uint64_t number);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);
