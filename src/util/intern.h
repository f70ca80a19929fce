// SPDX-License-Identifier: Apache-2.0
/*
 * A table that stores each entry of a fixed size once and numbers them 1, 2, 3...
 *
 * Entries are equal where their first `key_size` bytes are: end the key before the padding at the
 * end of a struct, and let the struct have no padding inside.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/id_index.h"

struct intern {
    size_t entry_size, key_size;
    unsigned char *entries;
    uint32_t count, capacity;
    struct id_index index;
};

void intern_init(struct intern *table, size_t entry_size, size_t key_size);
void intern_free(struct intern *table);

/* The id of the entry that equals `entry`, which is added if there was none. */
uint32_t intern_add(struct intern *table, const void *entry);

/* Entry `id` (1..count); valid until the next intern_add(). */
static inline const void *intern_get(const struct intern *table, uint32_t id)
{
    return table->entries + (size_t)(id - 1) * table->entry_size;
}
