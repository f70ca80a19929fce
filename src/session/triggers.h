// SPDX-License-Identifier: Apache-2.0
/* The triggers of a recording, at all VMs that it is of. */
#pragma once

#include "session/options.h"
#include "session/targets.h"
#include "session/trigger_watch.h"

/* All zero is none. */
struct triggers {
    struct trigger_watch *of[PIDS_MAX]; /* by target */
    size_t count;
    struct buffer fired; /* what is said of the one that fired last */
};

int triggers_start(struct triggers *triggers, const struct session_options *options,
                   const struct targets *targets, struct symbolizer *const *symbolizers,
                   struct error *error);
void triggers_free(struct triggers *triggers);

/* Whether what they look at is told by CPU samples. */
bool triggers_need_cpu_samples(const struct session_options *options);
void triggers_cpu_sample(struct triggers *triggers, size_t target, const struct sample *sample);

/* Look, as trigger_watch_look() does: what fires, valid until the next call, NULL if nothing does.
 */
const char *triggers_look(struct triggers *triggers, bool may_fire, const struct targets *targets,
                          const struct profile *profile);
