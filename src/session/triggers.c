// SPDX-License-Identifier: Apache-2.0
#include "session/triggers.h"

#include "util/clock.h"

int triggers_start(struct triggers *triggers, const struct session_options *options,
                   const struct targets *targets, struct symbolizer *const *symbolizers,
                   struct error *error)
{
    for (size_t i = 0; options->trigger_count && i < targets->count; i++) {
        triggers->of[i] = trigger_watch_new(options->triggers, options->trigger_count,
                                            targets->vms[i], symbolizers[i], error);
        if (!triggers->of[i])
            return targets_error(targets->vms[i], error);
        triggers->count = i + 1;
    }
    return 0;
}

void triggers_free(struct triggers *triggers)
{
    for (size_t i = 0; i < triggers->count; i++)
        trigger_watch_free(triggers->of[i]);
    buffer_free(&triggers->fired);
}

bool triggers_need_cpu_samples(const struct session_options *options)
{
    for (size_t i = 0; i < options->trigger_count; i++)
        if (options->triggers[i].kind == TRIGGER_GC)
            return true;
    return false;
}

void triggers_cpu_sample(struct triggers *triggers, size_t target, const struct sample *sample)
{
    if (target < triggers->count)
        trigger_watch_cpu_sample(triggers->of[target], sample);
}

const char *triggers_look(struct triggers *triggers, bool may_fire, const struct targets *targets,
                          const struct profile *profile)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    bool fired = false;

    for (size_t i = 0; i < triggers->count; i++) {
        struct buffer text = {0};

        if (trigger_watch_look(triggers->of[i], now, may_fire && !fired, profile, &text)) {
            fired = true;
            if (targets->count > 1)
                buffer_format(&text, " (in process %d)", targets->vms[i]->pid);
            buffer_byte(&text, '\0');
            buffer_free(&triggers->fired);
            triggers->fired = text;
        }
    }
    return fired ? triggers->fired.data : NULL;
}
