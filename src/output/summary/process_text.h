// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profile/profile.h"
#include "util/buffer.h"

/* Append the pid of a process and its registered name, else its label, else its initial call:
 * "<0.85.0> cart". */
void process_text(const struct profile *profile, process_id id, struct buffer *text);
