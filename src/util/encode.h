// SPDX-License-Identifier: Apache-2.0
/* Bytes as text: base64, 7 bits a character, percent-escapes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "util/buffer.h"

/* Append bytes as base64 (RFC 4648, section 4), padded, without line breaks. */
void encode_base64(struct buffer *buffer, const void *data, size_t size);

/*
 * Bytes as text in an HTML script element, 7 bits a character. The text is an eighth shorter than
 * base64: a byte takes 1.18 characters. It is ASCII, so the encoding of the page does not matter.
 *
 * The lowest 7 bits of the first byte come first. The parser would change NUL and CR, and '<' may
 * end the element. These three and '^' are written as '^' and the character with bit 0x40 flipped:
 * "^@", "^M", "^|". LF needs no escape: if a tool converts it to CR LF, the parser converts it
 * back.
 */

void encode_ascii(FILE *file, const void *data, size_t size);

/*
 * Percent-escapes, as in URLs: each %XX stands for the byte with that hexadecimal number. All
 * outputs use them to hide characters that have a meaning in their format: "erlang:+/2" is
 * "erlang:%2B/2". '%' itself always becomes %25.
 */

/* Append `size` bytes of `text`. Escape '%' and each byte for which `must_escape` returns true. */
void encode_escapes(struct buffer *buffer, const char *text, size_t size,
                    bool (*must_escape)(const char *text, size_t at));

/* Append `size` bytes of `text` with its escapes undone. A '%' that begins no escape stays. */
void encode_undo_escapes(struct buffer *buffer, const char *text, size_t size);
