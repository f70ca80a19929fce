// SPDX-License-Identifier: Apache-2.0
/*
 * Memory that is there or the program ends: running out of memory is not an error that a
 * profiler can do anything about.
 */
#pragma once

#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *pointer, size_t size);
/* As xrealloc for `count` elements of `size` bytes; ends the program where that overflows. */
void *xreallocarray(void *pointer, size_t count, size_t size);
/* The list of *room elements of `size` bytes with room for one at `index`; what is new is zero. */
void *xgrow(void *list, size_t *room, size_t index, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t size);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
