// SPDX-License-Identifier: Apache-2.0
/*
 * Takes samples until it is told to end, and records them only when a trigger fires.
 *
 * What is sampled goes into short parts in memory, of which the newest are kept. When a trigger
 * fires, the part that is made then goes on to the end, and is written together with those.
 *
 *      kept ─ kept ─ kept ─ part ...│fires ...... end   ──>  one recording
 *      └─── before, or more ────────┘└── after ──┘
 */
#pragma once

#include "cli/options.h"
#include "cli/rotation.h"
#include "session/session.h"
#include "util/error.h"

/* From now on, until the time is over, `*stop`, or the targets have ended; then the session is
 * stopped. What was begun is written. ERROR_NO_SAMPLES if nothing has fired. */
int record_triggered(struct session *session, const struct record_options *options,
                     const volatile int *stop, struct rotation *rotation, struct error *error);
