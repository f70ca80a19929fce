// SPDX-License-Identifier: Apache-2.0
#include "budget/window_lengths.h"

void window_lengths_add(struct window_lengths *lengths, uint64_t start, uint64_t end,
                        uint64_t represents)
{
    uint64_t length = lengths->last_end - lengths->last_start;

    lengths->represented_ns += (double)represents;
    if (start != lengths->last_end) {
        lengths->buckets[log_histogram_bucket(length)].count += length > 0;
        lengths->buckets[log_histogram_bucket(length)].ns += (double)length;
        lengths->last_start = start;
    }
    lengths->last_end = end;
}

/* The time in which something that takes `ns` could begin and be seen as a whole. */
static double chance(const struct window_lengths *lengths, uint64_t ns)
{
    uint64_t last = lengths->last_end - lengths->last_start;
    double sum = last > ns ? (double)(last - ns) : 0;

    for (uint32_t i = 0; i < LOG_HISTOGRAM_BUCKETS; i++) {
        double left = lengths->buckets[i].ns - (double)lengths->buckets[i].count * (double)ns;

        if (left > 0)
            sum += left;
    }
    return sum;
}

double window_lengths_scale(const struct window_lengths *lengths, uint64_t ns)
{
    double seen = chance(lengths, 0), sum = chance(lengths, ns);

    if (lengths->represented_ns <= seen)
        return 1;
    return lengths->represented_ns / (sum > 0 ? sum : seen);
}
