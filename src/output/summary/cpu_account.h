// SPDX-License-Identifier: Apache-2.0
/* The CPU time of samples, by the sampling clock, against the CPU time that the kernel accounts to
 * the VMs. */
#pragma once

#include "output/output.h"
#include "util/buffer.h"

/* Return sampled ÷ accounted time, before samples were scaled; 0 if no time was accounted. */
double cpu_account_ratio(const struct recording_totals *totals);

/* If the ratio is outside of 0.98 to 1.02, append a sentence (without a full stop) that gives the
 * likely reason, and return true. Else append nothing and return false. */
bool cpu_account_text(const struct recording_header *header, const struct recording_totals *totals,
                      struct buffer *text);
