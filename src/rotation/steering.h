// SPDX-License-Identifier: Apache-2.0
/* What `beamflame ctl` can do to a recording while it runs: requests that the recorder takes
 * between two steps, and answers. */
#pragma once

#include <stdbool.h>

#include "rotation/options.h"
#include "session/session.h"
#include "util/error.h"

struct steering;

/* `command_line`: of the recorder, for its status. Borrows both. */
struct steering *steering_new(const struct targets *targets, const char *command_line);
/* `steering` may be NULL. */
void steering_free(struct steering *steering);

/* Take requests from now on, by a socket in the folder (os/control_socket.h). -1 with error. */
int steering_listen(struct steering *steering, const char *folder, struct error *error);
/* Take no more requests. */
void steering_close(struct steering *steering);

/* Answer the requests that have come. Return true if one ends the recording. Call it
 * while there is a segment. `steering` may be NULL. */
bool steering_step(struct steering *steering, struct session *session, enum recorder_state state);
