// SPDX-License-Identifier: Apache-2.0
/* What the BPF programs counted since a moment: they count from when they were loaded. */
#pragma once

#include "wire.h"

/* Take off what was counted before. */
void counted_since(struct wire_slot_counts *counts, const struct wire_slot_counts *before);

/* The same. Where the greatest number came before, only the bucket of the greatest one since is
 * known: it is taken to be the highest of that. */
void counted_histogram_since(struct wire_histogram *histogram, const struct wire_histogram *before);
