// SPDX-License-Identifier: Apache-2.0
/* Most processes are at rest most of the time. The samples of those that have not changed since an
 * earlier sweep are taken from there. */
#include "session/wall.h"

#include <stdlib.h>
#include <string.h>

#include "util/address_map.h"
#include "util/alloc.h"
#include "util/hash.h"

/* A process is read again after this many ns, whatever its struct says. */
static const uint64_t RESTS_AT_MOST = 300000000000;

struct resting {
    uint64_t hash; /* of the struct */
    uint64_t time; /* when the process was read */
    uint64_t frames, erlang_frames;
    struct sample sample;
    struct owed_time owed;
};

struct wall_resting {
    size_t struct_size;
    struct address_map *places; /* in `of`, by address of the struct */
    struct resting *of;
    size_t count, room;
};

struct wall_resting *wall_resting_new(const struct vm *vm)
{
    struct wall_resting *resting = xcalloc(1, sizeof(*resting));

    resting->struct_size = (size_t)vm->layout.sizeof_process;
    resting->places = address_map_new(RESTING_MAX);
    return resting;
}

void wall_resting_free(struct wall_resting *resting)
{
    if (!resting)
        return;
    address_map_free(resting->places);
    free(resting->of);
    free(resting);
}

void wall_resting_move(struct wall_resting *resting, struct profile_remap *remap)
{
    for (size_t i = 0; i < resting->count; i++)
        profile_remap_sample(remap, &resting->of[i].sample);
}

static struct resting *find(const struct wall_resting *resting, uint64_t address)
{
    uint64_t place;

    return address_map_get(resting->places, address, &place) ? &resting->of[place] : NULL;
}

static void count(const struct resting *known, struct recording_totals *totals)
{
    totals->erlang_samples++;
    totals->complete_stacks++;
    totals->frames += known->frames;
    totals->erlang_frames += known->erlang_frames;
}

bool wall_resting_knows(const struct wall_resting *resting, const struct swept_process *swept,
                        uint64_t now)
{
    const struct resting *known = find(resting, swept->address);

    return known && now - known->time < RESTS_AT_MOST &&
           known->hash == hash_bytes(swept->bytes, resting->struct_size);
}

void wall_resting_get(const struct wall_resting *resting, const struct swept_process *swept,
                      struct sample *sample, struct recording_totals *totals)
{
    const struct resting *known = find(resting, swept->address);

    *sample = known->sample;
    count(known, totals);
}

void wall_resting_owe(struct wall_resting *resting, uint64_t address, const struct owed_time *more)
{
    struct resting *known = find(resting, address);

    if (!known)
        return;
    known->owed.time += more->time;
    known->owed.sweeps += more->sweeps;
    known->owed.until = more->until;
}

/* Take what is owed for a process. */
static bool take(struct resting *known, struct sample *sample, struct owed_time *owed,
                 struct recording_totals *totals)
{
    if (!known->owed.sweeps)
        return false;
    *sample = known->sample;
    *owed = known->owed;
    known->owed = (struct owed_time){0};
    count(known, totals);
    return true;
}

bool wall_resting_take(struct wall_resting *resting, uint64_t address, struct sample *sample,
                       struct owed_time *owed, struct recording_totals *totals)
{
    struct resting *known = find(resting, address);

    return known && take(known, sample, owed, totals);
}

bool wall_resting_take_next(struct wall_resting *resting, size_t *next, struct sample *sample,
                            struct owed_time *owed, struct recording_totals *totals)
{
    while (*next < resting->count)
        if (take(&resting->of[(*next)++], sample, owed, totals))
            return true;
    return false;
}

bool wall_resting_has_room(const struct wall_resting *resting, size_t processes)
{
    return resting->count + processes <= RESTING_MAX;
}

void wall_resting_clear(struct wall_resting *resting)
{
    address_map_clear(resting->places);
    resting->count = 0;
}

/* True if nothing is lost in the sample, and all its metrics were read. */
static bool is_whole(const struct sample *sample, const struct recording_totals *totals)
{
    for (int i = 0; i < LOSS_COUNT; i++)
        if (totals->losses[i])
            return false;
    return totals->complete_stacks && !totals->truncated_stacks && !totals->unknown_native_frames &&
           metrics_know(&sample->metrics, METRIC_MEMORY);
}

void wall_resting_put(struct wall_resting *resting, const struct swept_process *swept, uint64_t now,
                      const struct sample *sample, const struct recording_totals *totals)
{
    bool is_new;
    size_t place;

    if (!is_whole(sample, totals) ||
        (!wall_resting_has_room(resting, 1) && !find(resting, swept->address)))
        return;
    place = address_map_place(resting->places, swept->address, &is_new);
    if (is_new)
        resting->count = place + 1;
    resting->of = xgrow(resting->of, &resting->room, place, sizeof(*resting->of));
    resting->of[place] = (struct resting){
        .hash = hash_bytes(swept->bytes, resting->struct_size),
        .time = now,
        .frames = totals->frames,
        .erlang_frames = totals->erlang_frames,
        .sample = *sample,
    };
}
