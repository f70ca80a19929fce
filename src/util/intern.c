// SPDX-License-Identifier: Apache-2.0
#include "util/intern.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/hash.h"

void intern_init(struct intern *table, size_t entry_size, size_t key_size)
{
    *table = (struct intern){.entry_size = entry_size, .key_size = key_size};
}

void intern_free(struct intern *table)
{
    free(table->entries);
    hash_index_free(&table->index);
}

static uint32_t find(const struct intern *table, const void *entry, uint64_t hash)
{
    struct id_probe probe = id_index_probe(&table->index, hash);
    uint32_t id;

    while ((id = id_probe_next(&probe)))
        if (!memcmp(intern_get(table, id), entry, table->key_size))
            return id;
    return 0;
}

uint32_t intern_find(const struct intern *table, const void *entry)
{
    return find(table, entry, hash_bytes(entry, table->key_size));
}

uint32_t intern_add(struct intern *table, const void *entry)
{
    uint64_t hash = hash_bytes(entry, table->key_size);
    uint32_t id = find(table, entry, hash);

    if (id)
        return id;
    if (table->count == table->capacity) {
        if (table->capacity > UINT32_MAX / 2)
            abort();
        table->capacity = table->capacity ? table->capacity * 2 : 16;
        table->entries = xreallocarray(table->entries, table->capacity, table->entry_size);
    }
    id = ++table->count;
    memcpy(table->entries + (size_t)(id - 1) * table->entry_size, entry, table->entry_size);
    hash_index_add(&table->index, hash, id);
    return id;
}
