// SPDX-License-Identifier: Apache-2.0
/* The events that are selected by name (`--event`). */
#pragma once

#include <stdbool.h>

#include "profile/profile.h"
#include "util/error.h"

struct event_choice {
    bool *has; /* by event id; NULL: all events */
    uint32_t count;
    event_id first; /* the first of them */
};

/* Select the events of `names`: the name of one event, or several separated by commas. NULL selects
 * all. ERROR_USAGE if the profile does not have one of them. */
int event_choice_make(struct event_choice *choice, const struct profile *profile, const char *names,
                      struct error *error);
void event_choice_free(struct event_choice *choice);

/* Fail with ERROR_USAGE, or another code: the recording has no event of this name. The message
 * lists those that it has. Return -1. */
int event_choice_refuse(const struct profile *profile, const char *name, enum error_code code,
                        struct error *error);
