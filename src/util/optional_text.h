// SPDX-License-Identifier: Apache-2.0
/* Texts that may be missing: NULL. */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "util/alloc.h"

/* Return a copy, or NULL. */
static inline char *optional_text_copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

/* True if both texts are equal, or both are missing. */
static inline bool optional_text_equal(const char *one, const char *other)
{
    return one && other ? !strcmp(one, other) : one == other;
}
