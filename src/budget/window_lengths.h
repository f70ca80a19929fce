// SPDX-License-Identifier: Apache-2.0
/*
 * The scale of a measured duration, which depends on that duration.
 *
 * A duration d is seen only if it begins and ends in one window. At a constant rate, a window of
 * length w shows those that begin in its first w - d. So the longer a duration is, the fewer of
 * them are seen. None is seen that is as long as the longest window.
 */
#pragma once

#include <stdint.h>

#include "log_histogram.h"

struct window_lengths {
    double represented_ns;
    uint64_t last_start, last_end; /* of the latest window, which may continue */
    struct {
        uint64_t count;
        double ns;
    } buckets[LOG_HISTOGRAM_BUCKETS]; /* the earlier windows, by length */
};

/* Add the window [start, end). If it begins where the last one ended, the two are one window. */
void window_lengths_add(struct window_lengths *lengths, uint64_t start, uint64_t end,
                        uint64_t represents);

/* The scale of durations of `ns`: 1 where windows cover all of the time. Where no window is longer
 * than `ns`, the scale of a duration of 0. */
double window_lengths_scale(const struct window_lengths *lengths, uint64_t ns);
