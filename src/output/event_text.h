// SPDX-License-Identifier: Apache-2.0
/* What was counted of an event, as text for people. */
#pragma once

#include "output/number_text.h"
#include "profile/event_summary.h"
#include "util/buffer.h"

/* Append "12,345 hits, 4.1 % of the time covered in 31 windows, at 0.93 % of the VM's CPU time, 3
 * samples lost". */
void event_hits_text(const struct event_summary *summary, struct buffer *text);

/* Append a sum, with the interval that holds the true one in 95 of 100 cases: "1.2 s +- 30.1 ms";
 * "+- ?" where windows were too few to tell. One that is not scaled is exact, and stands alone. */
void event_sum_text(const struct event_summary *summary, uint32_t value, enum unit unit,
                    struct buffer *text);

/* Append "1,200 times, p50 12.3 us, p99 1.2 ms, max 5.0 ms". */
void event_histogram_text(const struct event_histogram *histogram, struct buffer *text);
