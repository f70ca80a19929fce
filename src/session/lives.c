// SPDX-License-Identifier: Apache-2.0
#include "session/lives.h"

#include "os/process.h"
#include "util/clock.h"

static struct target_life *life_of(const struct target *target, struct segment *segment)
{
    return target_life_of(&segment->lives, symbolizer_target(target->symbolizer));
}

bool life_look(struct target *target, struct segment *segment)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    uint64_t since = target->life.looked ? now - target->life.looked : 0;
    bool is_stopped = process_is_stopped(target->vm->pid);
    bool is_news = is_stopped && !target->life.was_stopped;

    /* If it was stopped at one of the two looks, half of the time between is the best guess. */
    if (since && (is_stopped || target->life.stopped))
        life_of(target, segment)->stopped_ns +=
            is_stopped && target->life.stopped ? since : since / 2;
    target->life.looked = now;
    target->life.stopped = is_stopped;
    target->life.was_stopped |= is_stopped;
    return is_news;
}

void life_end(const struct target *target, struct segment *segment)
{
    life_of(target, segment)->ended = clock_ns(CLOCK_MONOTONIC);
}
