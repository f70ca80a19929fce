// SPDX-License-Identifier: Apache-2.0
/* The entries of a profile's tables as JSON, one per line. An entry is written before the first
 * line that refers to it (docs/json.md). */
#pragma once

#include <stdbool.h>
#include <stdio.h>

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
/* Write the entries that a sample refers to, or the entry of a thread and its target. Entries that
 * were written before are left out. */
void json_entries_sample(struct json_entries *entries, const struct sample *sample);
void json_entries_thread(struct json_entries *entries, thread_id id);
