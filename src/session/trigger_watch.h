// SPDX-License-Identifier: Apache-2.0
/*
 * Looks whether what triggers wait for is so in one VM: about once a second, and at processes so
 * seldom that it takes no more than 2 % of a CPU.
 *
 * A trigger fires when its condition holds, and not again before it has been found not to hold. One
 * that may not fire when its condition begins to hold does so later, if it still holds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/vm.h"
#include "profile/profile.h"
#include "session/trigger.h"
#include "symbol/symbolizer.h"
#include "util/buffer.h"
#include "util/error.h"

struct trigger_watch;

/* All borrowed. NULL with error. */
struct trigger_watch *trigger_watch_new(const struct trigger *triggers, size_t count, struct vm *vm,
                                        struct symbolizer *symbolizer, struct error *error);
void trigger_watch_free(struct trigger_watch *watch);

/* Take notice of a CPU sample. */
void trigger_watch_cpu_sample(struct trigger_watch *watch, const struct sample *sample);

/* Look, if it is time to. True if one fires, which is only if it may: which one, and what was
 * found, are appended to *text. `profile`: where the symbolizer puts processes now. */
bool trigger_watch_look(struct trigger_watch *watch, uint64_t now, bool may_fire,
                        const struct profile *profile, struct buffer *text);
