// SPDX-License-Identifier: Apache-2.0
#include "session/walls.h"

#include "util/clock.h"

int walls_start(struct walls *walls, const struct session_options *options,
                const struct targets *targets, struct symbolizer *const *symbolizers,
                struct segment *segment, struct error *error)
{
    const struct wall_options own = {
        .frequency = options->wall_frequency,
        .cpu_interval = 1000000000 / options->frequency,
        .top = options->top,
    };

    for (size_t i = 0; segment->wall && i < targets->count; i++) {
        walls->of[i] = wall_new(targets->vms[i], symbolizers[i], &own, error);
        if (!walls->of[i])
            return targets_error(targets->vms[i], error);
        walls->count = i + 1;
    }
    return 0;
}

void walls_free(struct walls *walls)
{
    for (size_t i = 0; i < walls->count; i++)
        wall_free(walls->of[i]);
}

int walls_step(struct walls *walls, struct segment *segment, struct error *error)
{
    for (size_t i = 0; i < walls->count; i++)
        if (wall_step(walls->of[i], clock_ns(CLOCK_MONOTONIC), segment, error))
            return -1;
    return 0;
}

int walls_limit_timeout(const struct walls *walls, int timeout_ms)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    for (size_t i = 0; i < walls->count; i++) {
        uint64_t due_ms = wall_due(walls->of[i], now) / 1000000;

        if (due_ms < (uint64_t)timeout_ms)
            timeout_ms = (int)due_ms;
    }
    return timeout_ms;
}

int walls_finish(struct walls *walls, struct segment *segment, struct error *error)
{
    for (size_t i = 0; i < walls->count; i++)
        if (wall_finish(walls->of[i], segment, error))
            return -1;
    return 0;
}

int walls_put_summary(const struct walls *walls, struct segment *segment, struct error *error)
{
    struct event_tally tallies[WALL_TALLIES] = {{0}};
    struct event_summary summary = {
        .event = segment->wall, .tallies = tallies, .tally_count = WALL_TALLIES};

    if (!walls->count)
        return 0;
    for (int i = 0; i < WALL_TALLIES; i++)
        tallies[i].name = profile_string_z(segment->profile, wall_tally_names[i]);
    for (size_t i = 0; i < walls->count; i++)
        wall_add_summary(walls->of[i], &summary, tallies);
    return recording_put_summary(segment->writer, segment->profile, &summary, error);
}

void walls_begin(struct walls *walls, const struct segment *before, struct segment *segment)
{
    for (size_t i = 0; i < walls->count; i++)
        wall_begin(walls->of[i], before->profile, segment->profile);
}
