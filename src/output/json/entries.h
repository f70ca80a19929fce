// SPDX-License-Identifier: Apache-2.0
/* The entries of a profile's tables as JSON, one per line. An entry is written before the first
 * line that refers to it (docs/json.md). */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "output/json/json.h"
#include "profile/profile.h"

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
