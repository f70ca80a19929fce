// SPDX-License-Identifier: Apache-2.0
/*
 * Percent-escapes, as in URLs: each %XX stands for the byte with that hexadecimal number. All
 * outputs use them to hide characters that have a meaning in their format: "erlang:+/2" is
 * "erlang:%2B/2". '%' itself always becomes %25.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/* Append `size` bytes of `text`. Escape '%' and each byte for which `must_escape` returns true. */
void escape_put(struct buffer *buffer, const char *text, size_t size,
                bool (*must_escape)(const char *text, size_t at));

/* Append `size` bytes of `text` with its escapes undone. A '%' that begins no escape stays. */
void unescape_put(struct buffer *buffer, const char *text, size_t size);
