// SPDX-License-Identifier: Apache-2.0
#include "util/id_map.h"

#include <stdlib.h>

#include "util/alloc.h"

void id_map_free(struct id_map *map)
{
    free(map->ids);
    *map = (struct id_map){0};
}

void id_map_add(struct id_map *map, uint32_t id)
{
    map->ids = xgrow(map->ids, &map->room, map->count, sizeof(*map->ids));
    map->ids[map->count++] = id;
}

uint32_t id_map_decode(const struct id_map *map, struct cursor *cursor, const char *problem)
{
    return id_map_get(map, (uint32_t)cursor_varint(cursor, map->count, problem));
}
