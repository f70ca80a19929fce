// SPDX-License-Identifier: Apache-2.0
#include "profile/string_table.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/hash.h"
#include "util/utf8.h"

#define CUT_MARK "..."

void string_table_free(struct string_table *table)
{
    free(table->texts);
    hash_index_free(&table->index);
    arena_free(&table->arena);
}

static uint32_t add_new(struct string_table *table, const char *text, size_t size, uint64_t hash)
{
    char *copy = arena_alloc(&table->arena, size + 1);

    table->size += size + 1;
    memcpy(copy, text, size);
    copy[size] = '\0';
    if (table->count == table->capacity) {
        if (table->capacity > UINT32_MAX / 2)
            abort();
        table->capacity = table->capacity ? table->capacity * 2 : 64;
        table->texts = xreallocarray(table->texts, table->capacity, sizeof(*table->texts));
    }
    table->texts[table->count++] = copy;
    hash_index_add(&table->index, hash, table->count);
    return table->count;
}

/* `otherwise`: what a new text becomes; 0: it is added. */
static uint32_t number_of_clean(struct string_table *table, const char *text, size_t size,
                                uint32_t otherwise)
{
    uint64_t hash = hash_bytes(text, size);
    struct id_probe probe = id_index_probe(&table->index, hash);
    uint32_t id;

    while ((id = id_probe_next(&probe)))
        if (!strncmp(table->texts[id - 1], text, size) && !table->texts[id - 1][size])
            return id;
    return otherwise ? otherwise : add_new(table, text, size, hash);
}

size_t string_table_cut(char *text, size_t size)
{
    if (size <= STRING_MAX)
        return size;
    size = STRING_MAX - strlen(CUT_MARK);
    while (size && ((unsigned char)text[size] & 0xc0) == 0x80)
        size--;
    memcpy(text + size, CUT_MARK, strlen(CUT_MARK));
    return size + strlen(CUT_MARK);
}

static uint32_t number_of(struct string_table *table, const char *text, size_t size,
                          uint32_t otherwise)
{
    uint32_t id;
    char *clean;

    if (!size)
        return 0;
    if (size <= STRING_MAX && utf8_is_clean(text, size))
        return number_of_clean(table, text, size, otherwise);
    if (size > STRING_MAX + 1)
        size = STRING_MAX + 1; /* enough to be cut: cleaning does not shorten it */
    clean = xmalloc(size * 3);
    size = string_table_cut(clean, utf8_clean(clean, text, size));
    id = number_of_clean(table, clean, size, otherwise);
    free(clean);
    return id;
}

uint32_t string_table_add(struct string_table *table, const char *text, size_t size)
{
    return number_of(table, text, size, 0);
}

uint32_t string_table_find(struct string_table *table, const char *text, size_t size,
                           uint32_t otherwise)
{
    return number_of(table, text, size, otherwise);
}
