// SPDX-License-Identifier: Apache-2.0
/*
 * A table of entries of a fixed size that stores equal entries once and numbers them 1, 2, 3...
 *
 * Entries are equal if their first `key_size` bytes are. So the struct must have no padding inside
 * the key, and the key must end before the padding at the end of the struct.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/hash.h"

struct intern {
    size_t entry_size, key_size;
    unsigned char *entries;
    uint32_t count, capacity;
    struct id_index index;
};

void intern_init(struct intern *table, size_t entry_size, size_t key_size);
void intern_free(struct intern *table);

/* Return the id of the entry that equals `entry`; 0 if there is none. */
uint32_t intern_find(const struct intern *table, const void *entry);

/* The same, but add `entry` if there is none. */
uint32_t intern_add(struct intern *table, const void *entry);

/* Return entry `id` (1..count). Valid until the next intern_add(). */
static inline const void *intern_get(const struct intern *table, uint32_t id)
{
    return table->entries + (size_t)(id - 1) * table->entry_size;
}
