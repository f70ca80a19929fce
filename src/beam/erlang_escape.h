// SPDX-License-Identifier: Apache-2.0
/* Format atoms and strings as Erlang source text, as io:format("~tp") does (io_lib.erl 27). */
#pragma once

#include "util/buffer.h"

/* Write an atom's text (UTF-8), in single quotes if it needs them. */
void erlang_escape_atom(struct buffer *out, const char *text);

/* Write one character of a text in quotes of kind `quote`, escaped if needed. */
void erlang_escape_character(struct buffer *out, uint32_t character, char quote);

/* Copy the text in `from` to `to`: at most size-1 bytes, whole characters only, and a NUL. */
void erlang_escape_copy(const struct buffer *from, char *to, size_t size);
