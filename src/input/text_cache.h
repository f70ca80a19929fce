// SPDX-License-Identifier: Apache-2.0
/*
 * Remembers the number of a text for its next occurrence. A full cache forgets everything.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/span.h"

struct text_cache;

/* `limit`: the bytes of text that fit. */
struct text_cache *text_cache_new(size_t limit);
void text_cache_free(struct text_cache *cache);

/* The number of an equal text of the same kind, or 0. The caller chooses the kinds. */
uint32_t text_cache_get(const struct text_cache *cache, uint32_t kind, struct span text);
/* Add the number of a text that has none yet. */
void text_cache_put(struct text_cache *cache, uint32_t kind, struct span text, uint32_t value);
