// SPDX-License-Identifier: Apache-2.0
/*
 * A table of texts: each is stored once, has a number 1, 2, 3..., and never moves. 0 is the empty
 * text.
 *
 * Texts are made clean (util/utf8.h). A text longer than STRING_MAX bytes is cut and ends in "...":
 * no real text is that long.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/alloc.h"
#include "util/hash.h"

#define STRING_MAX 16384

struct string_table {
    const char **texts;
    uint32_t count, capacity;
    uint64_t size; /* bytes of all texts */
    struct id_index index;
    struct arena arena;
};

/* Cut a text at STRING_MAX bytes, between characters. Return its new size. */
size_t string_table_cut(char *text, size_t size);

void string_table_free(struct string_table *table);

/* Return the number of a text, and add it if it is new. */
uint32_t string_table_add(struct string_table *table, const char *text, size_t size);

/* The same, but a new text is not added: `otherwise` is returned. 0: it is added. */
uint32_t string_table_find(struct string_table *table, const char *text, size_t size,
                           uint32_t otherwise);

static inline const char *string_table_get(const struct string_table *table, uint32_t id)
{
    return id ? table->texts[id - 1] : "";
}
