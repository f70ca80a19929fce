// SPDX-License-Identifier: Apache-2.0
/* Values of terms as text, as io:format("~0tp") writes them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/* As io_lib:printable_unicode_list/1, of one character. */
bool term_text_is_printable(uint32_t character);

/* Append a binary. `is_cut`: it has more bytes than these, for which "..." stands. So it does for
 * bytes that come when `out` has `limit` bytes or more. */
void term_text_binary(struct buffer *out, const char *bytes, size_t size, bool is_cut,
                      size_t limit);

enum { TERM_TEXT_BIG_WORDS = 2 };

/* Append an integer. The low word comes first. */
void term_text_big(struct buffer *out, const uint64_t digits[TERM_TEXT_BIG_WORDS], bool negative);

/* Append the shortest digits that read back as the same number. False, and nothing is appended, if
 * it is no float of Erlang. */
bool term_text_float(struct buffer *out, double value);
