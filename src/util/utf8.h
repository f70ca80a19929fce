// SPDX-License-Identifier: Apache-2.0
/* Untrusted text made safe to show: valid UTF-8 without characters that are more than text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return the size of the character at `text` (1..4 bytes) and its code point; 0 if the bytes are
 * not UTF-8. */
size_t utf8_decode(const char *text, size_t size, uint32_t *ret_point);

/* True if utf8_clean() would not change the text. */
bool utf8_is_clean(const char *text, size_t size);

/* Copy `text` with U+FFFD for each bad byte and for each character that is more than text:
 * controls, marks and controls of direction, line separators, noncharacters. `to` has room for 3 *
 * size bytes. Return the number of bytes written. */
size_t utf8_clean(char *to, const char *text, size_t size);

/* The same for a string, malloc'ed. */
char *utf8_clean_string(const char *text);

/* Return the width of the text in cells of a fixed-width font. East Asian wide characters take two
 * cells. */
size_t utf8_cells(const char *text);

/* Return the number of bytes of `text` that fit into `cells` cells, in whole characters. */
size_t utf8_fit(const char *text, size_t cells);

/* Copy a text into `size` bytes. One that does not fit is cut at the end of a character; one that
 * is not UTF-8, before the first wrong byte. */
void utf8_copy(char *to, size_t size, const char *text);
