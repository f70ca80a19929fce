// SPDX-License-Identifier: Apache-2.0
#include "session/triggers.h"

#include "util/clock.h"

int triggers_add(struct target *target, const struct session_options *options, struct error *error)
{
    if (!options->trigger_count)
        return 0;
    target->trigger_watch = trigger_watch_new(options->triggers, options->trigger_count, target->vm,
                                              target->symbolizer, error);
    return target->trigger_watch ? 0 : -1;
}

bool triggers_need_cpu_samples(const struct session_options *options)
{
    for (size_t i = 0; i < options->trigger_count; i++)
        if (options->triggers[i].kind == TRIGGER_GC)
            return true;
    return false;
}

bool triggers_look(const struct targets *targets, bool may_fire, const struct profile *profile,
                   struct buffer *fired)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    bool found = false;

    for (size_t i = 0; i < targets->count; i++) {
        const struct target *target = targets->of[i];
        struct buffer text = {0};

        if (!target->ended && target->trigger_watch &&
            trigger_watch_look(target->trigger_watch, now, may_fire && !found, profile, &text)) {
            found = true;
            if (targets->count > 1)
                buffer_format(&text, " (in process %d)", target->vm->pid);
            buffer_byte(&text, '\0');
            buffer_free(fired);
            *fired = text;
        }
    }
    return found;
}
