// SPDX-License-Identifier: Apache-2.0
/* The line on a terminal that shows what is being recorded. */
#pragma once

#include "cli/options.h"
#include "session/session.h"

struct progress {
    bool live; /* standard error is a terminal, and it is wanted */
    uint64_t shown;
};

struct progress progress_new(const struct record_options *options);

/* Twice a second. `state`: what comes first in the line, "" if nothing does. */
void progress_show(struct progress *progress, const struct session *session, const char *state);

/* Make room for other lines. */
void progress_clear(const struct progress *progress);
