// SPDX-License-Identifier: Apache-2.0
/* How often numbers of each size were seen: log_histogram.h says which bucket counts what. */
#pragma once

#include <stdint.h>

#include "log_histogram.h"

struct histogram {
    uint64_t max; /* greatest number seen */
    uint64_t buckets[LOG_HISTOGRAM_BUCKETS];
};

/* `number` was seen `count` times. */
void histogram_add(struct histogram *histogram, uint64_t number, uint64_t count);
/* How many numbers there are. */
uint64_t histogram_count(const struct histogram *histogram);
/* The number that `percent` of the numbers are not above, as if those of a bucket lay evenly in it:
 * off by less than a quarter of the true one, and never above the greatest. 0 if there are none. */
uint64_t histogram_percentile(const struct histogram *histogram, double percent);
