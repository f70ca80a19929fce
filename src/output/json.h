// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Write a string of JSON (RFC 8259, section 7) with its quotes; valid UTF-8 is kept as it is. The
 * escapes make it safe inside of an HTML script element as well. */
void json_string(FILE *file, const char *text);
/* The same, but null for an empty text. */
void json_string_or_null(FILE *file, const char *text);

/* A value in the making, which puts commas where they belong: `before` is "" at first. A key is
 * NULL for what is in an array, or the value itself. */
struct json {
    FILE *file;
    const char *before; /* what comes before the next one */
};
/* '{' or '[', and '}' or ']'. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
void json_text(struct json *json, const char *key, const char *text);
void json_number(struct json *json, const char *key, uint64_t number);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);
