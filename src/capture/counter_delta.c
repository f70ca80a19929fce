// SPDX-License-Identifier: Apache-2.0
#include "capture/counter_delta.h"

#include <stdint.h>

#include "log_histogram.h"

void slot_counts_since(struct wire_slot_counts *counts, const struct wire_slot_counts *before)
{
    counts->runs -= before->runs;
    counts->hits -= before->hits;
    counts->size -= before->size;
    counts->lost -= before->lost;
    for (int i = 0; i < WIRE_VALUES; i++)
        counts->values[i] -= before->values[i];
    for (int i = 0; i < WIRE_TALLIES; i++)
        counts->tallies[i] -= before->tallies[i];
}

void histogram_since(struct wire_histogram *histogram, const struct wire_histogram *before)
{
    uint64_t highest = 0;

    for (uint32_t i = 0; i < LOG_HISTOGRAM_BUCKETS; i++) {
        histogram->buckets[i] -= before->buckets[i];
        if (histogram->buckets[i])
            highest = log_histogram_low(i + 1) - 1;
    }
    if (histogram->max == before->max && highest < histogram->max)
        histogram->max = highest;
}
