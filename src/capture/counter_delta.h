// SPDX-License-Identifier: Apache-2.0
/* What the BPF programs counted since a moment. They count from when they were loaded. */
#pragma once

#include "wire.h"

/* Subtract what was counted before. */
void slot_counts_since(struct wire_slot_counts *counts, const struct wire_slot_counts *before);

/* Subtract what was counted before. If the maximum is from before, only the bucket of the greatest
 * number since then is known. Its highest number is then the maximum. */
void histogram_since(struct wire_histogram *histogram, const struct wire_histogram *before);
