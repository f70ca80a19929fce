// SPDX-License-Identifier: Apache-2.0
/* What keeps targets from running while they are recorded, for the segment's account: they are
 * stopped (SIGSTOP, a debugger), or end. */
#pragma once

#include "session/segment.h"
#include "session/target.h"

/* See if the target is stopped, and count the time since the last look. True if it is, and was not
 * at any look before. Call about once a second while the target runs, and when a segment ends. */
bool life_look(struct target *target, struct segment *segment);

/* Note that the target has ended now. */
void life_end(const struct target *target, struct segment *segment);
