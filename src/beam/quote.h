// SPDX-License-Identifier: Apache-2.0
/* Atoms and strings as Erlang source text, the way io:format("~tp") writes them (io_lib.erl 27). */
#pragma once

#include "util/buffer.h"

/* An atom's text (UTF-8), in single quotes where it needs them. */
void quote_atom(struct buffer *out, const char *text);

/* One character within quotes of kind `quote`, escaped where it has to be. */
void quote_character(struct buffer *out, uint32_t character, char quote);

/* Copy what was written to `to`: at most size-1 bytes, whole characters only, and a NUL. */
void quote_copy(const struct buffer *from, char *to, size_t size);
