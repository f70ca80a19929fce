// SPDX-License-Identifier: Apache-2.0
#include "util/alloc.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*end_program)(void) = abort;

void alloc_fail_by(void (*end)(void))
{
    end_program = end;
}

static void *checked(void *pointer)
{
    if (!pointer) {
        end_program();
        abort();
    }
    return pointer;
}

void *xmalloc(size_t size)
{
    return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
    return checked(calloc(count ? count : 1, size ? size : 1));
}

void *xrealloc(void *pointer, size_t size)
{
    return checked(realloc(pointer, size ? size : 1));
}

void *xreallocarray(void *pointer, size_t count, size_t size)
{
    return checked(reallocarray(pointer, count ? count : 1, size ? size : 1));
}

void *xgrow(void *list, size_t *room, size_t index, size_t size)
{
    size_t new_room = index * 2 + 64;

    if (index < *room)
        return list;
    if (new_room <= index) /* overflow */
        abort();
    list = xreallocarray(list, new_room, size);
    memset((char *)list + *room * size, 0, (new_room - *room) * size);
    *room = new_room;
    return list;
}

char *xstrdup(const char *text)
{
    return checked(strdup(text));
}

char *xstrndup(const char *text, size_t size)
{
    return checked(strndup(size ? text : "", size));
}

char *xasprintf(const char *format, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    return checked(text);
}

#define ARENA_BLOCK ((size_t)64 << 10)

struct arena_block {
    struct arena_block *older;
    char data[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
    void *data;

    if (size > arena->left) {
        size_t room = size > ARENA_BLOCK ? size : ARENA_BLOCK;
        struct arena_block *block = xmalloc(sizeof(*block) + room);

        block->older = arena->newest;
        arena->newest = block;
        arena->free = block->data;
        arena->left = room;
    }
    data = arena->free;
    arena->free += size;
    arena->left -= size;
    return data;
}

void arena_free(struct arena *arena)
{
    while (arena->newest) {
        struct arena_block *block = arena->newest;

        arena->newest = block->older;
        free(block);
    }
    *arena = (struct arena){0};
}

void alloc_give_back(void)
{
    enum { LARGE = 256 << 10 }; /* bytes */

    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_ARENA_MAX, 1);
}
