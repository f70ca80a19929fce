// SPDX-License-Identifier: Apache-2.0
/* What `beamflame ctl status` answers. */
#pragma once

#include <time.h>

#include "rotation/options.h"
#include "session/session.h"
#include "util/buffer.h"

struct steering_status {
    enum recorder_state state;
    struct session_status session;
    time_t since; /* seconds since 1970 */
    const struct targets *targets;
    const struct session_options *options;
    const char *command_line;
};

/* Append the events that are recorded: "cpu, gc". */
void steering_status_events(const struct session_options *options, struct buffer *text);

/* Append lines of text. The first one is a summary, for lists. */
void steering_status_text(const struct steering_status *status, struct buffer *text);

/* Append a JSON object, which fits into CONTROL_SOCKET_ANSWER bytes. */
void steering_status_json(const struct steering_status *status, struct buffer *text);
