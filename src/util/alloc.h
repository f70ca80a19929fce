// SPDX-License-Identifier: Apache-2.0
/*
 * Allocation that ends the program when it fails: a profiler can do nothing about a lack of memory.
 */
#pragma once

#include <stddef.h>

/* Keep memory small and flat, for programs that run for long while VMs come and go. glibc keeps up
 * to twice the largest block that was ever freed (mallopt(3), M_MMAP_THRESHOLD): 80 MB instead of
 * 28. And each thread takes memory from a heap of its own (M_ARENA_MAX): what a VM needed stayed in
 * several of them, and 500 VMs that came and went took 4 MB more. */
void alloc_give_back(void);

/* Let `end`, which must end the program, be called when an allocation fails, instead of abort(). */
void alloc_fail_by(void (*end)(void));

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *pointer, size_t size);
/* As xrealloc() for `count` elements of `size` bytes. Ends the program if the product overflows. */
void *xreallocarray(void *pointer, size_t count, size_t size);
/* Make room for an element at `index` in `list`, which has room for *room elements of `size` bytes.
 * Return the list, which may have moved. New elements are zero. */
void *xgrow(void *list, size_t *room, size_t index, size_t size);
char *xstrdup(const char *text);
/* `text` may be NULL if `size` is 0. */
char *xstrndup(const char *text, size_t size);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Many small allocations that never move and are freed together. An arena of zeros is empty. */

struct arena {
    struct arena_block *newest;
    char *free;
    size_t left;
};

/* Return `size` bytes, not aligned. */
void *arena_alloc(struct arena *arena, size_t size);
void arena_free(struct arena *arena);
