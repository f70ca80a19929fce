// SPDX-License-Identifier: Apache-2.0
/*
 * How many things that took a certain time one that was seen stands for.
 *
 * Of what takes time d only that is seen which begins and ends in one window: in a window of length
 * w and at a constant rate, those that begin in its first w - d. So the longer it takes the fewer
 * are seen, and none as long as the longest window.
 */
#pragma once

#include <stdint.h>

#include "log_histogram.h"

struct window_lengths {
    double represented_ns;
    uint64_t last_start, last_end; /* of the newest, which may go on */
    struct {
        uint64_t count;
        double ns;
    } buckets[LOG_HISTOGRAM_BUCKETS]; /* the others, by length */
};

/* The window [start, end) was seen. It goes on from the last one where that ended at `start`. */
void window_lengths_add(struct window_lengths *lengths, uint64_t start, uint64_t end,
                        uint64_t represents);

/* Of things that took so many ns: 1 where all of the time was seen. For one that took as long as
 * the longest window, or longer: as if it took no time. */
double window_lengths_scale(const struct window_lengths *lengths, uint64_t ns);
