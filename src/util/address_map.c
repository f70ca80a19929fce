// SPDX-License-Identifier: Apache-2.0
#include "util/address_map.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/hash.h"

struct map_slot {
    uint64_t address; /* 0: empty */
    uint64_t value;
};

struct address_map {
    struct map_slot *slots; /* of a map that never had an entry: `none` */
    size_t mask, used, limit;
};

enum { FIRST_SLOTS = 256 };

/* Many maps stay empty: they share these slots. */
static struct map_slot none[1];

struct address_map *address_map_new(size_t limit)
{
    struct address_map *map = xcalloc(1, sizeof(*map));

    map->slots = none;
    map->limit = limit;
    return map;
}

static void free_slots(const struct address_map *map)
{
    if (map->slots != none)
        free(map->slots);
}

void address_map_free(struct address_map *map)
{
    if (!map)
        return;
    free_slots(map);
    free(map);
}

static struct map_slot *slot_of(const struct address_map *map, uint64_t address)
{
    size_t at = (size_t)hash_word(address) & map->mask;

    while (map->slots[at].address && map->slots[at].address != address)
        at = (at + 1) & map->mask;
    return &map->slots[at];
}

bool address_map_get(const struct address_map *map, uint64_t address, uint64_t *value)
{
    const struct map_slot *slot = slot_of(map, address);

    if (!slot->address)
        return false;
    *value = slot->value;
    return true;
}

static void grow(struct address_map *map)
{
    struct address_map bigger = *map;

    bigger.mask = map->slots == none ? FIRST_SLOTS - 1 : map->mask * 2 + 1;
    bigger.slots = xcalloc(bigger.mask + 1, sizeof(*bigger.slots));
    for (size_t i = 0; i <= map->mask; i++)
        if (map->slots[i].address)
            *slot_of(&bigger, map->slots[i].address) = map->slots[i];
    free_slots(map);
    *map = bigger;
}

void address_map_put(struct address_map *map, uint64_t address, uint64_t value)
{
    struct map_slot *slot;

    if (!address)
        return;
    if (map->used >= map->limit)
        address_map_clear(map);
    else if (map->used * 2 >= map->mask)
        grow(map);
    slot = slot_of(map, address);
    map->used += !slot->address;
    *slot = (struct map_slot){address, value};
}

size_t address_map_place(struct address_map *map, uint64_t address, bool *ret_new)
{
    uint64_t place;

    *ret_new = !address_map_get(map, address, &place);
    if (*ret_new) {
        place = map->used < map->limit ? map->used : 0;
        address_map_put(map, address, place);
    }
    return place;
}

void address_map_change_all(struct address_map *map, address_map_change change, void *context)
{
    for (size_t i = 0; i <= map->mask; i++)
        if (map->slots[i].address)
            map->slots[i].value = change(context, map->slots[i].value);
}

void address_map_clear(struct address_map *map)
{
    memset(map->slots, 0, (map->mask + 1) * sizeof(*map->slots));
    map->used = 0;
}
