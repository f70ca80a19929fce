// SPDX-License-Identifier: Apache-2.0
#include "native/memory.h"

#include <string.h>

/* The smallest page of any architecture. If one byte is readable, so is the rest of its page. */
enum { PAGE = 4096 };

/* Most strings are shorter than this, so copying the rest of the page would waste time. */
enum { STRING_CHUNK = 256 };

void memory_free(struct memory *memory)
{
    if (memory)
        memory->free(memory);
}

bool memory_is_there(struct memory *memory)
{
    return !memory->is_there || memory->is_there(memory);
}

void memory_read_spans(struct memory *memory, struct memory_span *spans, size_t count)
{
    if (memory->read_spans && !stop_is_overdue()) {
        memory->read_spans(memory, spans, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        spans[i].is_read = memory_read(memory, spans[i].address, spans[i].buffer, spans[i].size);
}

/* Read up to `size` bytes, as many as there are. A captured image can end anywhere, so if a read
 * fails, half as much is tried. Return 0 if not even the first byte is there. */
static size_t read_some(struct memory *memory, uint64_t address, char *buffer, size_t size)
{
    while (size > 0 && !memory_read(memory, address, buffer, size))
        size /= 2;
    return size;
}

bool memory_read_string(struct memory *memory, uint64_t address, char *buffer, size_t size)
{
    size_t used = 0;

    if (size == 0)
        return false;
    while (used < size - 1) {
        size_t wanted = size - 1 - used;
        size_t in_page = PAGE - address % PAGE;
        size_t got;

        if (wanted > STRING_CHUNK)
            wanted = STRING_CHUNK;
        got = read_some(memory, address, buffer + used, wanted < in_page ? wanted : in_page);
        if (got == 0)
            return false;
        if (memchr(buffer + used, '\0', got))
            return true;
        used += got;
        address += got;
    }
    buffer[used] = '\0';
    return true;
}

static bool has(const struct read_cache *cache, uint64_t address, size_t size)
{
    return cache->address && address >= cache->address && size <= READ_CACHE_BYTES &&
           address - cache->address <= READ_CACHE_BYTES - size;
}

bool memory_read_cached(struct read_cache *cache, uint64_t address, void *buffer, size_t size)
{
    uint64_t start = address & ~(uint64_t)(READ_CACHE_BYTES - 1);

    if (!has(cache, address, size)) {
        if (address - start + size > READ_CACHE_BYTES)
            return memory_read(cache->memory, address, buffer, size);
        cache->address = 0;
        if (!memory_read(cache->memory, start, cache->bytes, READ_CACHE_BYTES))
            return memory_read(cache->memory, address, buffer, size);
        cache->address = start;
    }
    memcpy(buffer, cache->bytes + (address - cache->address), size);
    return true;
}

static bool read_through(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    return memory_read_cached(&((struct cached_memory *)memory)->cache, address, buffer, size);
}

void memory_cached_init(struct cached_memory *cached, struct memory *origin)
{
    cached->memory = (struct memory){.read = read_through};
    read_cache_init(&cached->cache, origin);
}
