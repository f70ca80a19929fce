// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A JSON value that is being written; it puts the commas, blanks and line breaks. All but the first
 * three are 0 at first. A key is NULL for an element of an array and for the outermost
 * value. */
struct json {
    FILE *file;
    bool compact;   /* without blanks and indentation, for a large value */
    bool in_script; /* the file is HTML: '<' is escaped, so that no text ends the script element */
    bool has_elements;
    uint64_t by_line; /* of the open arrays and objects, a bit each, the innermost in bit 0: each
                       * element begins a line */
};

/* `bracket` is '{' or '[' to open, '}' or ']' to close. */
void json_open(struct json *json, const char *key, char bracket);
/* The same, with each element on a line of its own. */
void json_open_lines(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);

/* Write a string (RFC 8259, section 7). Valid UTF-8 is kept as it is. */
void json_text(struct json *json, const char *key, const char *text);
/* The same, but null for an empty text. */
void json_text_or_null(struct json *json, const char *key, const char *text);
void json_number(struct json *json, const char *key, uint64_t number);
/* The same, but nothing for 0. */
void json_number_if(struct json *json, const char *key, uint64_t number);
void json_signed(struct json *json, const char *key, int64_t number);
/* Write thousandths as a number with three decimals: 1234567 as 1234.567. */
void json_thousandths(struct json *json, const char *key, uint64_t thousandths);
/* Write nanoseconds as milliseconds with three decimals, cut off. */
void json_ms(struct json *json, const char *key, uint64_t ns);
/* Write a finite number, rounded to `decimals` places. */
void json_decimal(struct json *json, const char *key, double number, int decimals);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);
