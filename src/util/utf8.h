// SPDX-License-Identifier: Apache-2.0
/* Text from outside, made safe to show: valid UTF-8 without control characters. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at `text` (1..4) and its code point; 0 if the bytes are not UTF-8. */
size_t utf8_decode(const char *text, size_t size, uint32_t *ret_point);

/* Whether utf8_clean() would keep the text as it is. */
bool utf8_is_clean(const char *text, size_t size);

/* Copy with U+FFFD for each bad byte and each control character (C0, DEL, C1, line separators).
 * `to` has room for 3 * size bytes. Returns the bytes written. */
size_t utf8_clean(char *to, const char *text, size_t size);

/* The cells that the text takes in a fixed-width font: East Asian wide characters take two. */
size_t utf8_cells(const char *text);

/* How many bytes of `text` fit into `cells` cells, whole characters only. */
size_t utf8_fit(const char *text, size_t cells);
