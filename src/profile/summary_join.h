// SPDX-License-Identifier: Apache-2.0
/*
 * What was counted in recordings of which each begins where the one before it ended, as if it had
 * been counted in one. Each function adds the next one's to what it is given, all zero at first;
 * `profile` is the next one's, `to` that of all.
 */
#pragma once

#include "profile/event_summary.h"
#include "profile/recording.h"
#include "profile/thread_time.h"

void totals_join(struct recording_totals *totals, const struct recording_totals *next);

/* `event`: what it is in `to`. Histograms and tallies beyond those that a summary can hold are left
 * out. */
void event_summaries_join(struct event_summaries *summaries, event_id event,
                          const struct profile *profile, const struct event_summary *next,
                          struct profile *to);

void thread_times_join(struct thread_times *times, const struct profile *profile,
                       const struct thread_times *next, struct profile *to);
