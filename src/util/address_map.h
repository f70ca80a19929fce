// SPDX-License-Identifier: Apache-2.0
/*
 * A cache from addresses to small numbers. Bounded: when it is full it is emptied, so a hostile
 * target can make it slow but not large.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_map;

/* `limit`: entries it may hold. */
struct address_map *address_map_new(size_t limit);
void address_map_free(struct address_map *map);

/* Value of `address` (never 0) in *value; false if there is none. */
bool address_map_get(const struct address_map *map, uint64_t address, uint64_t *value);
void address_map_put(struct address_map *map, uint64_t address, uint64_t value);
/* For an array of as many entries as the map may hold: the place in it that `address` has, or is
 * given now (*ret_new). When all are given, all addresses are forgotten. */
size_t address_map_place(struct address_map *map, uint64_t address, bool *ret_new);
void address_map_clear(struct address_map *map);
