// SPDX-License-Identifier: Apache-2.0
/* Suggests the names of nodes and processes for those that a selection names and a profile does not
 * have. */
#pragma once

#include "profile/profile.h"
#include "util/buffer.h"
#include "view/selection.h"

/* Append "; no process is 'Shop.Stok', did you mean 'Shop.Stock'?" for each such name, without the
 * question if no name is like it, and "; no node is 'sho', the nodes are: shop@web-1 (4711)". No
 * NUL is appended. */
void suggestion_find_names(const struct selection_options *options, const struct profile *profile,
                           struct buffer *text);

/* Set the error that the options select none of `count` `what` ("samples"), with suggestions.
 * Return -1. */
int suggestion_nothing_selected(const struct selection_options *options,
                                const struct profile *profile, uint64_t count, const char *what,
                                struct error *error);
