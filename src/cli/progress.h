// SPDX-License-Identifier: Apache-2.0
/* The line on a terminal that shows what is being recorded. */
#pragma once

#include "cli/options.h"
#include "session/session.h"

struct progress {
    bool live; /* standard error is a terminal, and progress is wanted */
    uint64_t shown;
};

struct progress progress_new(const struct record_options *options);

/* Show the line, at most twice a second. `state`: the beginning of the line, or "". */
void progress_show(struct progress *progress, const struct session *session, const char *state);

/* Clear the line before other output. */
void progress_clear(const struct progress *progress);
