// SPDX-License-Identifier: Apache-2.0
/*
 * The windows of a group of probes, and so the scale of a hit.
 *
 * The log keeps the latest windows. Hits are at most some hundred ms old when their scale is
 * requested.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "log_histogram.h"

enum { WINDOW_LOG_LENGTH = 256 };

struct logged_window {
    uint64_t start, end; /* end: UINT64_MAX while the window is open */
    uint64_t represents; /* ns; known of closed windows that are not continuous */
    bool continuous;     /* the scale of hits is 1 */
};

struct window_log {
    struct logged_window windows[WINDOW_LOG_LENGTH];
    uint64_t count; /* number of all windows so far; the latest is windows[(count - 1) %
                     * WINDOW_LOG_LENGTH] */
};

void window_log_open(struct window_log *log, uint64_t start, bool continuous);
void window_log_close(struct window_log *log, uint64_t end, uint64_t represents);

enum window_answer {
    WINDOW_SCALE,   /* the scale is known */
    WINDOW_NOT_YET, /* the window is still open: ask again */
    WINDOW_OUTSIDE, /* the hit is in no window and does not count */
};

/* The scale of a hit at `time` that took `duration` ns until then, all of it within a window. A
 * long hit is less likely to lie within a window as a whole, so its scale is larger. About hits as
 * long as a window nothing is known, so the scale has a limit: ten times that of a short hit. */
enum window_answer window_log_scale(const struct window_log *log, uint64_t time, uint64_t duration,
                                    double *scale);

/*
 * The scale of a measured duration, which depends on that duration.
 *
 * A duration d is seen only if it begins and ends in one window. At a constant rate, a window of
 * length w shows those that begin in its first w - d. So the longer a duration is, the fewer of
 * them are seen. None is seen that is as long as the longest window.
 */

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
