// SPDX-License-Identifier: Apache-2.0
/* The entries of a profile's tables as JSON, one on a line, each before the first that refers to
 * it (docs/json.md). */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "profile/profile.h"

/* Which entries of a table were written, by id. */
struct json_written {
    bool *of;
    size_t room;
};

struct json_entries {
    FILE *file;
    const struct profile *profile;
    struct json_written targets, processes, threads, modules, frames, stacks;
    stack_id *path; /* nodes of a stack that are still to be written, leaf first */
    size_t path_room;
};

void json_entries_free(struct json_entries *entries);

/* Write the event with its id. */
void json_entries_event(const struct json_entries *entries, event_id id);
/* Write what was not written yet of what is referred to by a sample, or of a thread. */
void json_entries_sample(struct json_entries *entries, const struct sample *sample);
void json_entries_thread(struct json_entries *entries, thread_id id);
