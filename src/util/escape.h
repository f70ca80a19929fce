// SPDX-License-Identifier: Apache-2.0
/*
 * Percent-escapes, the one way in which outputs hide characters that their format gives a meaning:
 * "erlang:+/2" is "erlang:%2B/2". Undone by replacing each %XX with the byte of that number, as in
 * URLs. '%' itself becomes %25 wherever a text is escaped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/* Append `size` bytes of `text`, with an escape for each that `must_escape` asks for. */
void escape_put(struct buffer *buffer, const char *text, size_t size,
                bool (*must_escape)(const char *text, size_t at));

/* Append `size` bytes of `text` with its escapes undone; a '%' that begins none stays. */
void unescape_put(struct buffer *buffer, const char *text, size_t size);
