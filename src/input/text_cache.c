// SPDX-License-Identifier: Apache-2.0
#include "input/text_cache.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/buffer.h"
#include "util/hash.h"
#include "util/id_index.h"

struct entry {
    size_t offset; /* in the bytes of the cache */
    size_t size;
    uint32_t kind, value;
};

struct text_cache {
    size_t limit;
    struct buffer bytes;
    struct entry *entries;
    uint32_t count;
    size_t room;
    struct id_index index;
};

struct text_cache *text_cache_new(size_t limit)
{
    struct text_cache *cache = xcalloc(1, sizeof(*cache));

    cache->limit = limit;
    buffer_reserve(&cache->bytes, 1); /* so that an empty text has an address, too */
    return cache;
}

void text_cache_free(struct text_cache *cache)
{
    if (!cache)
        return;
    buffer_free(&cache->bytes);
    free(cache->entries);
    id_index_free(&cache->index);
    free(cache);
}

static uint64_t hash(uint32_t kind, struct span text)
{
    return hash_bytes(text.at, text.size) + (uint64_t)kind * 0x9e3779b1u;
}

uint32_t text_cache_get(const struct text_cache *cache, uint32_t kind, struct span text)
{
    struct id_probe probe = id_index_probe(&cache->index, hash(kind, text));
    uint32_t id;

    while ((id = id_probe_next(&probe))) {
        const struct entry *entry = &cache->entries[id - 1];

        if (entry->kind == kind && entry->size == text.size &&
            !memcmp(cache->bytes.data + entry->offset, text.at, text.size))
            return entry->value;
    }
    return 0;
}

static void forget_all(struct text_cache *cache)
{
    cache->bytes.size = 0;
    cache->count = 0;
    id_index_free(&cache->index);
}

void text_cache_put(struct text_cache *cache, uint32_t kind, struct span text, uint32_t value)
{
    if (cache->bytes.size + text.size > cache->limit)
        forget_all(cache);
    cache->entries = xgrow(cache->entries, &cache->room, cache->count, sizeof(*cache->entries));
    cache->entries[cache->count++] = (struct entry){cache->bytes.size, text.size, kind, value};
    buffer_put(&cache->bytes, text.at, text.size);
    id_index_add(&cache->index, hash(kind, text), cache->count);
}
