// SPDX-License-Identifier: Apache-2.0
/*
 * Bytes as text that an HTML script element holds, 7 bits a character: an eighth shorter than
 * base64 (a byte takes 1.18 characters), and ASCII, whatever encoding the page is taken for.
 *
 * The first 7 bits are the low ones of the first byte. A character that the parser would change
 * (NUL, CR), that may end the element ('<'), or '^' itself is '^' and the character with bit 0x40
 * flipped: "^@", "^M", "^|". What a parser, or a tool that converts line ends, does to LF it takes
 * back.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

void ascii_write(FILE *file, const void *data, size_t size);
