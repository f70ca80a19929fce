// SPDX-License-Identifier: Apache-2.0
#include "budget/windows.h"

#include <math.h>
#include <stddef.h>

static const double SHORTEST_PART = 0.1; /* of a window, in which a hit could begin */

void window_log_open(struct window_log *log, uint64_t start, bool continuous)
{
    log->windows[log->count++ % WINDOW_LOG_LENGTH] = (struct logged_window){
        .start = start,
        .end = UINT64_MAX,
        .continuous = continuous,
    };
}

void window_log_close(struct window_log *log, uint64_t end, uint64_t represents)
{
    struct logged_window *last = &log->windows[(log->count - 1) % WINDOW_LOG_LENGTH];

    last->end = end;
    last->represents = represents;
}

/* The window that contains `time`; NULL if none does. */
static const struct logged_window *find(const struct window_log *log, uint64_t time)
{
    uint64_t kept = log->count < WINDOW_LOG_LENGTH ? log->count : WINDOW_LOG_LENGTH;

    for (uint64_t back = 1; back <= kept; back++) {
        const struct logged_window *window = &log->windows[(log->count - back) % WINDOW_LOG_LENGTH];

        if (window->start <= time)
            return time < window->end ? window : NULL;
    }
    return NULL;
}

enum window_answer window_log_scale(const struct window_log *log, uint64_t time, uint64_t duration,
                                    double *scale)
{
    const struct logged_window *window = find(log, time);
    double length;

    if (!window)
        return WINDOW_OUTSIDE;
    if (window->continuous) {
        *scale = 1;
        return WINDOW_SCALE;
    }
    if (window->end == UINT64_MAX)
        return WINDOW_NOT_YET;
    length = (double)(window->end - window->start);
    *scale = (double)window->represents / fmax(length - (double)duration, length * SHORTEST_PART);
    return WINDOW_SCALE;
}

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

/* Return the part of the windows' time in which a call of `ns` can begin and still end in its
 * window. */
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
