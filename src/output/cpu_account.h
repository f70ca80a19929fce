// SPDX-License-Identifier: Apache-2.0
/* The CPU time that samples stand for by their clock, against what the kernel accounts to the VMs.
 */
#pragma once

#include "output/output.h"
#include "util/buffer.h"

/* Sampled ÷ accounted, before samples were scaled to the account; 0 where nothing was accounted. */
double cpu_account_ratio(const struct recording_totals *totals);

/* Append a sentence without a full stop, with the likely reason, if the ratio is outside of 0.98 to
 * 1.02; else append nothing and return false. */
bool cpu_account_text(const struct recording_header *header, const struct recording_totals *totals,
                      struct buffer *text);
