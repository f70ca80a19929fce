// SPDX-License-Identifier: Apache-2.0
/* Names of functions as terms that file:consult/1 reads. */
#pragma once

#include "util/buffer.h"

/* Append the tuple {Module, Function, Arity} of a name as frames have it: "lists:map/2",
 * "'my-module':'is it'/1", "Shop.Cart.add/2". Any other text becomes {'', Text, 0}. */
void fprof_term_function(struct buffer *out, const char *name);

/* Append a text as an Erlang string. */
void fprof_term_string(struct buffer *out, const char *text);
