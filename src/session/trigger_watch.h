// SPDX-License-Identifier: Apache-2.0
/*
 * Checks the triggers at one VM: about once a second. Processes are checked less often if that
 * would need more of a CPU than the caller allows.
 *
 * A trigger fires when its condition holds. It can fire again only after its condition was found
 * not to hold. A trigger that may not fire when its condition begins to hold fires later, if the
 * condition still holds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/vm.h"
#include "profile/profile.h"
#include "session/options.h"
#include "session/targets.h"
#include "session/trigger.h"
#include "symbol/symbolizer.h"
#include "util/buffer.h"
#include "util/error.h"

struct trigger_watch;

void trigger_watch_free(struct trigger_watch *watch);

/* Count a CPU sample. */
void trigger_watch_cpu_sample(struct trigger_watch *watch, const struct sample *sample);

struct trigger_look {
    uint64_t now;                  /* CLOCK_MONOTONIC */
    const struct profile *profile; /* the one that the symbolizer uses now */
    uint64_t sweep_rest;           /* time between sweeps over processes, in CPU times of a sweep */
    bool (*may_fire)(void *context, const struct trigger *trigger);
    void *context;
};

/* Check the triggers, if it is time to. If one fires, return it, and append its text and the value
 * found to *text. Else return NULL. */
const struct trigger *trigger_watch_look(struct trigger_watch *watch,
                                         const struct trigger_look *look, struct buffer *text);

/* The same after the VM has ended: trigger `exit` fires, at the first call or never. */
const struct trigger *trigger_watch_end(struct trigger_watch *watch,
                                        const struct trigger_look *look, struct buffer *text);

/* The triggers of a session, at all of its targets. */

/* Begin to watch a target, if there are triggers. Borrows its VM and symbolizer. */
int trigger_watch_add(struct target *target, const struct session_options *options,
                      struct error *error);

/* Watch the triggers of the options, which have changed, instead of those before; at a target whose
 * VM has ended, none. A trigger that was among them before continues: it does not fire again while
 * its condition holds. `before`: a copy of their array before the change. */
int trigger_watch_replace(struct target *target, const struct session_options *options,
                          const struct trigger *before, struct error *error);

/* True if a trigger needs CPU samples. */
bool trigger_watch_need_cpu_samples(const struct session_options *options);

/* Check the triggers, as trigger_watch_look() does. Return true if one fires, and replace the text
 * in *fired by its text. */
bool trigger_watch_look_all(const struct targets *targets, bool may_fire,
                            const struct profile *profile, struct buffer *fired);
