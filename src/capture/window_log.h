// SPDX-License-Identifier: Apache-2.0
/*
 * When a group of probes was open, and what a hit at some time stands for because of that.
 *
 * Keeps the latest windows; what is asked about is some hundred ms old at most.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { WINDOW_LOG_LENGTH = 256 };

struct logged_window {
    uint64_t start, end; /* end: UINT64_MAX while it is open */
    uint64_t represents; /* ns; of one that is not continuous, once closed */
    bool continuous;     /* hits stand for themselves */
};

struct window_log {
    struct logged_window windows[WINDOW_LOG_LENGTH];
    uint64_t count; /* ever; the latest is windows[(count - 1) % WINDOW_LOG_LENGTH] */
};

void window_log_open(struct window_log *log, uint64_t start, bool continuous);
void window_log_close(struct window_log *log, uint64_t end, uint64_t represents);

enum window_answer {
    WINDOW_SCALE,   /* known */
    WINDOW_NOT_YET, /* the window is still open: ask again */
    WINDOW_OUTSIDE, /* in no window: it does not count */
};

/* What a hit at `time` stands for that took `duration` ns until then, all of it within a window.
 * What takes long is less likely to be seen as a whole, so it stands for more; of what takes as
 * long as a window nothing is known, and ten times the usual is the limit. */
enum window_answer window_log_scale(const struct window_log *log, uint64_t time, uint64_t duration,
                                    double *scale);
