// SPDX-License-Identifier: Apache-2.0
/*
 * The numbers 1, 2, 3... that a file gives its entries, and the ids of these entries in memory.
 * Several entries of the file may be one in memory.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/cursor.h"

struct id_map {
    uint32_t *ids; /* of number 1, 2, 3... */
    size_t room;
    uint32_t count;
};

void id_map_free(struct id_map *map);

/* The next entry of the file has this id in memory. */
void id_map_add(struct id_map *map, uint32_t id);

/* Return the id of an entry. `number` is at most map->count; that of 0 is 0. */
static inline uint32_t id_map_get(const struct id_map *map, uint32_t number)
{
    return number ? map->ids[number - 1] : 0;
}

/* Read a number as a varint, and return its id. A number without an entry is the problem
 * `problem`. */
uint32_t id_map_decode(const struct id_map *map, struct cursor *cursor, const char *problem);
