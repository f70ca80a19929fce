// SPDX-License-Identifier: Apache-2.0
/* The triggers of a session, at all of its targets. */
#pragma once

#include "session/options.h"
#include "session/targets.h"
#include "session/trigger_watch.h"

/* All zero is empty. */
struct triggers {
    struct trigger_watch *of[PIDS_MAX]; /* by target */
    size_t count;
    struct buffer fired; /* text of the one that fired last */
};

int triggers_start(struct triggers *triggers, const struct session_options *options,
                   const struct targets *targets, struct symbolizer *const *symbolizers,
                   struct error *error);
void triggers_free(struct triggers *triggers);

/* True if a trigger needs CPU samples. */
bool triggers_need_cpu_samples(const struct session_options *options);
void triggers_cpu_sample(struct triggers *triggers, size_t target, const struct sample *sample);

/* Check the triggers, as trigger_watch_look() does. Return the text of the one that fires, valid
 * until the next call, or NULL. */
const char *triggers_look(struct triggers *triggers, bool may_fire, const struct targets *targets,
                          const struct profile *profile);
