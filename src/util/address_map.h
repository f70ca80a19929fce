// SPDX-License-Identifier: Apache-2.0
/*
 * A cache that maps addresses to small numbers. Its size is bounded: a full cache is emptied. So a
 * hostile target can make it slow, but not large.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_map;

/* The map holds at most `limit` entries. */
struct address_map *address_map_new(size_t limit);
void address_map_free(struct address_map *map);

/* Get the value of `address` (never 0) in *value. False if there is none. */
bool address_map_get(const struct address_map *map, uint64_t address, uint64_t *value);
void address_map_put(struct address_map *map, uint64_t address, uint64_t value);
/* Return the index of `address` in an array with one entry for each entry that the map can hold. A
 * new address (*ret_new) gets the next free index. If none is free, all addresses are forgotten
 * first. */
size_t address_map_place(struct address_map *map, uint64_t address, bool *ret_new);
/* Replace each value by what `change` returns for it. */
typedef uint64_t (*address_map_change)(void *context, uint64_t value);
void address_map_change_all(struct address_map *map, address_map_change change, void *context);
void address_map_clear(struct address_map *map);
