// SPDX-License-Identifier: Apache-2.0
/* The triggers of a session, at all of its targets. */
#pragma once

#include "session/options.h"
#include "session/targets.h"
#include "session/trigger_watch.h"

/* Begin to watch a target, if there are triggers. Borrows its VM and symbolizer. */
int triggers_add(struct target *target, const struct session_options *options, struct error *error);

/* True if a trigger needs CPU samples. */
bool triggers_need_cpu_samples(const struct session_options *options);

/* Check the triggers, as trigger_watch_look() does. Return true if one fires, with its text in
 * *fired, which replaces the text that was there. */
bool triggers_look(const struct targets *targets, bool may_fire, const struct profile *profile,
                   struct buffer *fired);
