// SPDX-License-Identifier: Apache-2.0
/* Takes samples until it is told to end, and divides them into parts where they are asked for. */
#pragma once

#include "cli/options.h"
#include "cli/rotation.h"
#include "session/session.h"
#include "util/error.h"

/* Records from now on, until the time is over, `*stop`, the targets have ended or the recording has
 * its size; then the session is stopped.
 *
 * Into `fd`, which is taken over; what reads it then is handed out in *ret_fd, on failure too if
 * there is anything to read, else -1. */
int record_whole(struct session *session, const struct record_options *options,
                 const volatile int *stop, int fd, int *ret_fd, struct error *error);

/* Or in parts, which are written by `rotation`. Of one that can't be recorded to its end, what
 * there is is kept, and that is said; where the next one can't begin either, it fails. */
int record_parts(struct session *session, const struct record_options *options,
                 const volatile int *stop, struct rotation *rotation, struct error *error);
