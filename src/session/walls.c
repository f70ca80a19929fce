// SPDX-License-Identifier: Apache-2.0
/* The wall event of a session: the sweeps of all targets. */
#include "profile/events.h"
#include "session/wall.h"
#include "util/clock.h"

const char *const wall_tally_names[] = {
    [WALL_SWEEPS] = "sweeps",
    [WALL_LATE] = "sweeps skipped, because the one before took too long",
    [WALL_GONE] = "started or ended while they were read",
    [WALL_TORN] = "were running each time they were read, left out",
    [WALL_UNSAMPLED] = "were running without a CPU sample, stack not known",
    [WALL_OTHERS] = "processes left out of the top",
};

/* Return the sweeps of a target that runs; NULL if it is not swept, or has ended. */
static struct wall *sweeps_of(const struct target *target)
{
    return target->ended ? NULL : target->wall;
}

int walls_add(struct target *target, const struct session_options *options, struct error *error)
{
    const struct wall_options own = {
        .frequency = target->plan.wall_frequency,
        .joins_repeats = options->joins_sweeps,
        .cpu_interval = 1000000000 / target->plan.frequency,
        .top = options->top,
        .room = target->sweep_room,
    };

    if (!target->plan.wall_frequency)
        return 0;
    target->wall = wall_new(target->vm, target->symbolizer, &own, error);
    return target->wall ? 0 : -1;
}

int walls_step(const struct targets *targets, struct segment *segment, struct error *error)
{
    for (size_t i = 0; i < targets->count; i++) {
        struct wall *wall = sweeps_of(targets->of[i]);

        if (wall && wall_step(wall, targets->of[i], clock_ns(CLOCK_MONOTONIC), segment, error))
            return -1;
    }
    return 0;
}

int walls_limit_timeout(const struct targets *targets, int timeout_ms)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    for (size_t i = 0; i < targets->count; i++) {
        const struct wall *wall = sweeps_of(targets->of[i]);
        uint64_t due_ms = wall ? wall_due(wall, now) / 1000000 : UINT64_MAX;

        if (due_ms < (uint64_t)timeout_ms)
            timeout_ms = (int)due_ms + 1; /* rounded up: an earlier step finds nothing to do */
    }
    return timeout_ms;
}

int walls_end(const struct targets *targets, bool all, struct segment *segment, struct error *error)
{
    for (size_t i = 0; i < targets->count; i++) {
        struct wall *wall = sweeps_of(targets->of[i]);

        if (wall && wall_end(wall, all, segment, error))
            return -1;
    }
    return 0;
}

int walls_put_summary(const struct targets *targets, struct segment *segment, struct error *error)
{
    struct event_tally tallies[WALL_TALLIES] = {{0}};
    struct event_summary summary = {
        .event = segment->wall, .tallies = tallies, .tally_count = WALL_TALLIES};

    if (!segment->wall)
        return 0;
    for (int i = 0; i < WALL_TALLIES; i++)
        tallies[i].name = profile_string_z(segment->profile, wall_tally_names[i]);
    for (size_t i = 0; i < targets->count; i++)
        if (targets->of[i]->wall)
            wall_add_summary(targets->of[i]->wall, &summary, tallies);
    return recording_put_summary(segment->writer, segment->profile, &summary, error);
}

void walls_begin(const struct targets *targets, const struct segment *before,
                 struct segment *segment)
{
    for (size_t i = 0; i < targets->count; i++)
        if (targets->of[i]->wall)
            wall_begin(targets->of[i]->wall, before->profile, segment->profile);
}
