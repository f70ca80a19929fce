// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/profile.h"

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

/* ---- entries.c ---- */

/* Write the keys trace_id and span_id; nothing if `id` is 0. */
void json_trace_span(struct json *json, const struct profile *profile, trace_span_id id);

/* The entries of a profile's tables as JSON, one per line. An entry is written before the first
 * line that refers to it (docs/json.md). */

/* The entries of a table that were written, by id. */
struct json_written {
    bool *of;
    size_t room;
};

struct json_entries {
    FILE *file;
    const struct profile *profile;
    struct json_written targets, processes, threads, modules, frames, stacks;
    stack_id *path; /* nodes of a stack that are not written yet, leaf first */
    size_t path_room;
};

void json_entries_free(struct json_entries *entries);

/* Write the event with its id. */
void json_entries_event(const struct json_entries *entries, event_id id);
/* Write the entries that a sample refers to, or the entry of a thread or process and its target.
 * Entries that were written before are left out. */
void json_entries_sample(struct json_entries *entries, const struct sample *sample);
void json_entries_thread(struct json_entries *entries, thread_id id);
void json_entries_process(struct json_entries *entries, process_id id);
void json_entries_target(struct json_entries *entries, target_id id);

/* Lines of JSON: each line is an object with a "type" (docs/json.md). */

static inline struct json json_line_open(FILE *file, const char *type)
{
    struct json json = {file};

    json_open(&json, NULL, '{');
    json_text(&json, "type", type);
    return json;
}

static inline void json_line_close(struct json *json)
{
    json_close(json, '}');
    putc('\n', json->file);
}
