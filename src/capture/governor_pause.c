// SPDX-License-Identifier: Apache-2.0
/* The pause of a governor: its thread keeps all groups closed. */
#include "capture/governor_internal.h"
#include "util/clock.h"

/* The time that a pause and its end wait for threads that attach and detach probes, in ns. */
static const uint64_t PATIENCE = 1000000000;

static bool has_tasks(const struct governor *governor)
{
    for (unsigned i = 0; i < governor->group_count; i++)
        if (governor->groups[i]->tasks)
            return true;
    return false;
}

bool governor_close_open(struct governor *governor)
{
    for (unsigned i = 0; i < governor->group_count; i++)
        if (governor->groups[i]->open)
            governor_group_close(governor->groups[i]);
    return has_tasks(governor);
}

void governor_pause(struct governor *governor)
{
    uint64_t most = clock_ns(CLOCK_MONOTONIC) + PATIENCE;

    if (!governor->started)
        return;
    pthread_mutex_lock(&governor->lock);
    governor->paused = true;
    governor->is_closed = false;
    pthread_cond_broadcast(&governor->changed);
    while (!governor->is_closed && clock_ns(CLOCK_MONOTONIC) < most)
        governor_wait_until(governor, most);
    pthread_mutex_unlock(&governor->lock);
}

void governor_resume(struct governor *governor)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC), most = now + PATIENCE;

    if (!governor->started)
        return;
    pthread_mutex_lock(&governor->lock);
    governor_group_read_target_cpu(governor);
    budget_resume(governor->budget, now, governor->target_cpu);
    governor->paused = false;
    governor->is_closed = true; /* until the thread has looked at all groups */
    pthread_cond_broadcast(&governor->changed);
    while ((governor->is_closed || has_tasks(governor)) && clock_ns(CLOCK_MONOTONIC) < most)
        governor_wait_until(governor, most);
    pthread_mutex_unlock(&governor->lock);
}
