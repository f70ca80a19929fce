// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profile/profile.h"
#include "util/buffer.h"

/* Append who a process is, in one line: "<0.85.0> cart", by its registered name, else its label,
 * else its initial call. */
void process_text(const struct profile *profile, process_id id, struct buffer *text);
