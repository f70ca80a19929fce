// SPDX-License-Identifier: Apache-2.0
/* Takes samples until it is stopped, into one recording or into segments without a gap. */
#pragma once

#include "rotation/options.h"
#include "rotation/recording_pieces.h"
#include "rotation/rotation.h"
#include "session/session.h"
#include "util/error.h"

/* Record into `fd`, the file that was created at `place` and is taken over. Recording ends after
 * its duration, when `*stop` is set, when all targets have ended, or when the recording reaches its
 * size. Then the session is stopped.
 *
 * `snapshots` writes what there is when that is requested; NULL: it can't be.
 *
 * *ret_fd becomes a descriptor that reads the recording, even on failure if there is anything to
 * read. Otherwise it becomes -1. */
int recorder_run(struct session *session, const struct recorder_options *options,
                 const volatile int *stop, const struct recording_place *place,
                 struct rotation *snapshots, int fd, int *ret_fd, struct error *error);

/* The same in segments, which `rotation` writes. If a segment fails, what was recorded of it is
 * kept, and the error is reported. Returns the error if the next segment can't begin either and the
 * reports have no make_room(). */
int recorder_run_segments(struct session *session, const struct recorder_options *options,
                          const volatile int *stop, struct rotation *rotation, struct error *error);

/* ---- triggered.c ---- */

/*
 * Takes samples until it is stopped, and records them only when a trigger fires.
 *
 * Samples go into short segments in memory, of which the newest are kept. When a trigger fires, the
 * current segment continues to the end of the recording. Then it is written together with the kept
 * segments.
 *
 *      kept ─ kept ─ kept ─ current ...│fires ...... end   ──>  one recording
 *      └────── before, or more ────────┘└── after ──┘
 */

/* Run until the duration has passed, `*stop` is set, or all targets have ended. Then the session is
 * stopped, and a recording that has begun is written. ERROR_NO_SAMPLES if no trigger has fired. */
int triggered_run(struct session *session, const struct recorder_options *options,
                  const volatile int *stop, struct rotation *rotation, struct error *error);
