// SPDX-License-Identifier: Apache-2.0
#include "profile/event_summary.h"

#include "util/number.h"

void histogram_add(struct histogram *histogram, uint64_t number, uint64_t count)
{
    uint64_t *bucket = &histogram->buckets[log_histogram_bucket(number)];

    if (!count)
        return;
    *bucket = saturating_sum(*bucket, count);
    if (histogram->max < number)
        histogram->max = number;
}

uint64_t histogram_count(const struct histogram *histogram)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < LOG_HISTOGRAM_BUCKETS; i++)
        count = saturating_sum(count, histogram->buckets[i]);
    return count;
}

/* The number at the fraction `part` (0..1) of a bucket. */
static uint64_t number_in_bucket(const struct histogram *histogram, uint32_t bucket, double part)
{
    uint64_t low = log_histogram_low(bucket), high = log_histogram_low(bucket + 1) - 1;

    if (high > histogram->max)
        high = histogram->max;
    return low < high ? saturating_sum(low, whole_part((double)(high - low) * part + 0.5)) : high;
}

uint64_t histogram_percentile(const struct histogram *histogram, double percent)
{
    double rank = (double)histogram_count(histogram) * percent / 100, below = 0;

    if (percent >= 100)
        return histogram->max;
    for (uint32_t i = 0; i < LOG_HISTOGRAM_BUCKETS; i++) {
        double count = (double)histogram->buckets[i];

        if (count > 0 && below + count >= rank)
            return number_in_bucket(histogram, i, (rank - below) / count);
        below += count;
    }
    return histogram->max;
}
