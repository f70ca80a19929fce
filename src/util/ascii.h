// SPDX-License-Identifier: Apache-2.0
/*
 * Bytes as text in an HTML script element, 7 bits a character. The text is an eighth shorter than
 * base64: a byte takes 1.18 characters. It is ASCII, so the encoding of the page does not matter.
 *
 * The lowest 7 bits of the first byte come first. The parser would change NUL and CR, and '<' may
 * end the element. These three and '^' are written as '^' and the character with bit 0x40 flipped:
 * "^@", "^M", "^|". LF needs no escape: if a tool converts it to CR LF, the parser converts it
 * back.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

void ascii_write(FILE *file, const void *data, size_t size);
