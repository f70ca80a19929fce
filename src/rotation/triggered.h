// SPDX-License-Identifier: Apache-2.0
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
#pragma once

#include "rotation/options.h"
#include "rotation/rotation.h"
#include "session/session.h"
#include "util/error.h"

/* Run until the duration has passed, `*stop` is set, or all targets have ended. Then the session is
 * stopped, and a recording that has begun is written. ERROR_NO_SAMPLES if no trigger has fired. */
int triggered_run(struct session *session, const struct recorder_options *options,
                  const volatile int *stop, struct rotation *rotation, struct error *error);
