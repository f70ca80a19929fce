// SPDX-License-Identifier: Apache-2.0
#include "symbol/process_cache.h"

#include <stdlib.h>
#include <string.h>

#include "beam/process_info.h"
#include "beam/process_table.h"
#include "util/address_map.h"
#include "util/alloc.h"

enum {
    CACHED_MAX = 1 << 16,
    PROCESS_BYTES_MAX = 1024, /* struct process is 736 to 792 bytes */
};
static const uint64_t MAX_AGE = 1000000000; /* ns */

struct cached {
    process_id id;
    uint64_t reg, dictionary; /* words of the struct: a new name shows in them */
    uint64_t read_at;
};

struct process_cache {
    struct vm *vm;
    struct atoms *atoms;
    struct profile *profile;
    target_id target;
    struct pid_encoding encoding;
    struct address_map *by_pid; /* pid term -> index in entries */
    struct cached entries[CACHED_MAX];
    size_t count;
};

struct process_cache *process_cache_new(struct vm *vm, struct atoms *atoms, struct profile *profile,
                                        target_id target, struct error *error)
{
    struct process_cache *cache = xcalloc(1, sizeof(*cache));

    cache->vm = vm;
    cache->atoms = atoms;
    cache->profile = profile;
    cache->target = target;
    cache->by_pid = address_map_new(CACHED_MAX);
    if (pid_encoding_read(vm, &cache->encoding, error) == 0)
        return cache;
    process_cache_free(cache);
    return NULL;
}

void process_cache_free(struct process_cache *cache)
{
    if (!cache)
        return;
    address_map_free(cache->by_pid);
    free(cache);
}

static uint64_t word_at(const uint8_t *bytes, int32_t offset)
{
    uint64_t value;

    memcpy(&value, bytes + offset, sizeof(value));
    return value;
}

static string_id text_or_none(struct process_cache *cache, const char *text)
{
    return text[0] ? profile_string_z(cache->profile, text) : 0;
}

static process_id read_process(struct process_cache *cache, uint64_t address, const uint8_t *bytes)
{
    struct process_info info;
    struct process_entry entry = {.target = cache->target};

    if (!process_info_read(cache->vm, cache->atoms, &cache->encoding, address, bytes, &info))
        return 0;
    entry.identity = info.id;
    entry.pid = text_or_none(cache, info.pid);
    entry.name = text_or_none(cache, info.name);
    entry.label = text_or_none(cache, info.label);
    entry.initial_call = text_or_none(cache, info.initial_call);
    return profile_process(cache->profile, &entry);
}

static struct cached *entry_of(struct process_cache *cache, uint64_t pid)
{
    uint64_t at;

    if (address_map_get(cache->by_pid, pid, &at))
        return &cache->entries[at];
    if (cache->count == CACHED_MAX) {
        address_map_clear(cache->by_pid);
        cache->count = 0;
    }
    at = cache->count++;
    cache->entries[at] = (struct cached){0};
    address_map_put(cache->by_pid, pid, at);
    return &cache->entries[at];
}

/* proc_lib has not yet said what the process really runs: it soon will. */
static bool is_starting(const struct process_cache *cache, process_id id)
{
    const struct process_entry *entry = profile_get_process(cache->profile, id);

    return !strncmp(profile_text(cache->profile, entry->initial_call), "proc_lib:init_p/", 16);
}

process_id process_cache_get(struct process_cache *cache, uint64_t address, const uint8_t *bytes,
                             uint64_t time)
{
    const struct layout *layout = &cache->vm->layout;
    uint64_t reg = word_at(bytes, layout->process_reg);
    uint64_t dictionary = word_at(bytes, layout->process_dictionary);
    struct cached *cached = entry_of(cache, word_at(bytes, layout->process_id));

    if (cached->id && cached->reg == reg && cached->dictionary == dictionary && cached->read_at &&
        time < cached->read_at + MAX_AGE)
        return cached->id;
    *cached = (struct cached){.id = read_process(cache, address, bytes),
                              .reg = reg,
                              .dictionary = dictionary,
                              .read_at = time};
    if (cached->id && is_starting(cache, cached->id))
        cached->read_at = 0;
    return cached->id;
}

/* Not kept: the next one may have its names. */
static process_id nameless(struct process_cache *cache, uint64_t pid)
{
    struct process_entry entry = {.target = cache->target, .identity = pid};
    char text[48];

    if (!pid_format(&cache->encoding, pid, text, sizeof(text)))
        return 0;
    entry.pid = text_or_none(cache, text);
    return profile_process(cache->profile, &entry);
}

process_id process_cache_find(struct process_cache *cache, uint64_t pid, uint64_t time)
{
    const struct layout *layout = &cache->vm->layout;
    size_t size = (size_t)layout->sizeof_process;
    uint8_t bytes[PROCESS_BYTES_MAX];
    uint64_t at, address;

    if (address_map_get(cache->by_pid, pid, &at) && cache->entries[at].id &&
        time < cache->entries[at].read_at + MAX_AGE)
        return cache->entries[at].id;
    address = process_table_at(cache->vm, pid_table_index(&cache->encoding, pid));
    if (!address || size > sizeof(bytes) || !memory_read(cache->vm->memory, address, bytes, size) ||
        word_at(bytes, layout->process_id) != pid)
        return nameless(cache, pid);
    return process_cache_get(cache, address, bytes, time);
}
