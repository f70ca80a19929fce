/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0) */
/*
 * Map a number to its bucket in a logarithmic histogram. An octave has 4 buckets, so a bucket is a
 * quarter of its octave wide. The numbers 0 to 3 have a bucket each.
 *
 *      number   0  1  2  3 │ 4  5  6  7 │ 8-9 10-11 12-13 14-15 │ 16-19 ...      2^64 - 1
 *      bucket   0  1  2  3 │ 4  5  6  7 │  8    9     10    11  │   12  ...         251
 *
 * BPF programs and user space share this code. It uses no instruction that the BPF target lacks,
 * and it masks the bucket, so that the verifier sees a bound.
 */
#ifndef BEAMFLAME_LOG_HISTOGRAM_H
#define BEAMFLAME_LOG_HISTOGRAM_H

#ifndef __bpf__
#include <linux/types.h>
#endif

enum log_histogram_limits {
    LOG_HISTOGRAM_BUCKETS = 256, /* a power of two; the last 4 stay empty */
};

/* The number of the highest bit that is set, or 0 for 0. */
static inline __u32 log_histogram_high_bit(__u64 number)
{
    __u32 bit = 0;

    if (number >> 32) {
        bit += 32;
        number >>= 32;
    }
    if (number >> 16) {
        bit += 16;
        number >>= 16;
    }
    if (number >> 8) {
        bit += 8;
        number >>= 8;
    }
    if (number >> 4) {
        bit += 4;
        number >>= 4;
    }
    if (number >> 2) {
        bit += 2;
        number >>= 2;
    }
    return bit + (__u32)(number >> 1);
}

static inline __u32 log_histogram_bucket(__u64 number)
{
    __u32 bit = log_histogram_high_bit(number);

    if (bit < 2)
        return (__u32)number;
    return (((bit - 1) << 2) + ((number >> (bit - 2)) & 3)) & (LOG_HISTOGRAM_BUCKETS - 1);
}

/* The lowest number of a bucket. No number has a bucket above 251: UINT64_MAX for these. */
static inline __u64 log_histogram_low(__u32 bucket)
{
    if (bucket < 4)
        return bucket;
    return bucket < 252 ? (4ull + (bucket & 3)) << ((bucket >> 2) - 1) : ~0ull;
}

#endif
