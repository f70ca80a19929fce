// SPDX-License-Identifier: Apache-2.0
/* A histogram of numbers. log_histogram.h defines the buckets. */
#pragma once

#include <stdint.h>

#include "log_histogram.h"

struct histogram {
    uint64_t max; /* largest number added */
    uint64_t buckets[LOG_HISTOGRAM_BUCKETS];
};

/* Add `number`, `count` times. */
void histogram_add(struct histogram *histogram, uint64_t number, uint64_t count);
/* Return how many numbers were added. */
uint64_t histogram_count(const struct histogram *histogram);
/* Return a percentile, as if the numbers in a bucket were spread evenly. The error is less than a
 * quarter of the true value, and the result never exceeds the largest number. 0 if the histogram is
 * empty. */
uint64_t histogram_percentile(const struct histogram *histogram, double percent);
