// SPDX-License-Identifier: Apache-2.0
/* What `beamflame ctl` can do to a count of calls while it runs: status, add, remove, stop. */
#pragma once

#include "calls/call_watch.h"
#include "util/error.h"

/* Take requests by a socket in the folder (os/control_socket.h). `command_line`: of this program,
 * for its status; borrowed. NULL with error. */
struct call_steering *call_steering_new(const char *folder, const char *command_line,
                                        struct error *error);
/* `steering` may be NULL. */
void call_steering_free(struct call_steering *steering);

/* Carry out the requests that have come, and answer. Return 0, 1 if counting ends by one of them,
 * or -1 with error if it can't continue. `steering` may be NULL. */
int call_steering_step(struct call_steering *steering, struct call_watch *watch,
                       struct error *error);
