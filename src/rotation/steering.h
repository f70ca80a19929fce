// SPDX-License-Identifier: Apache-2.0
/* What `beamflame ctl` can do to a recording while it runs: requests that the recorder takes
 * between two steps, and answers. */
#pragma once

#include <stdbool.h>

#include "rotation/options.h"
#include "session/session.h"
#include "util/error.h"

struct steering;

/* What the recorder can do. Each returns 0, or -1 with error; then the recording ends. */
struct steering_actions {
    void *context;
    int (*pause)(void *context, struct error *error);
    int (*resume)(void *context, struct error *error);
    /* Write what there is, in the background. Return 1 with error if that can't be done; then the
     * recording continues. NULL: it can never be done. */
    int (*snapshot)(void *context, struct error *error);
    warn_function warn; /* of what a signal requested and can't be done */
};

/* What is steered. Borrows all. */
struct steered_recording {
    const struct targets *targets;
    const char *command_line;        /* of the recorder, for its status */
    struct session_options *session; /* whose events requests change */
    /* -1 with error if outputs can't have these events. */
    int (*check)(const void *context, const struct session_options *wanted, struct error *error);
    const void *context; /* for check() */
};

struct steering *steering_new(const struct steered_recording *recording);
/* `steering` may be NULL. */
void steering_free(struct steering *steering);

/* Take requests from now on, by a socket in the folder (os/control_socket.h). -1 with error. */
int steering_listen(struct steering *steering, const char *folder, struct error *error);
/* Take no more requests. */
void steering_close(struct steering *steering);

/* Carry out the requests and signals (util/steering_signals.h) that have come, and answer. Return
 * 0, 1 if the recording ends by one of them, or -1 with the error of an action. `state`: of the
 * recorder, which is RECORDER_PAUSED from actions->pause() to actions->resume(). Call it while
 * there is a segment, or paused. `steering` may be NULL. */
int steering_step(struct steering *steering, struct session *session, enum recorder_state state,
                  const struct steering_actions *actions, struct error *error);
