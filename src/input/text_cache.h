// SPDX-License-Identifier: Apache-2.0
/*
 * What a text was found to mean, for the next time that it comes. Bounded: when it is full,
 * everything is forgotten.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/span.h"

struct text_cache;

/* `limit`: bytes of text that it may hold. */
struct text_cache *text_cache_new(size_t limit);
void text_cache_free(struct text_cache *cache);

/* The number that was put for an equal text of the same kind, which the caller chooses; 0 if there
 * is none. */
uint32_t text_cache_get(const struct text_cache *cache, uint32_t kind, struct span text);
/* For a text that has none yet. */
void text_cache_put(struct text_cache *cache, uint32_t kind, struct span text, uint32_t value);
