// SPDX-License-Identifier: Apache-2.0
/*
 * What was counted in several recordings, as if it had been counted in one. Each function adds the
 * next one's to what it is given, all zero at first; `carry` is from the next one's profile to that
 * of all, `shift` what is added to its times (wrapping).
 */
#pragma once

#include "profile/carry.h"
#include "profile/event_summary.h"
#include "profile/recording.h"
#include "profile/thread_time.h"

void totals_join(struct recording_totals *totals, const struct recording_totals *next,
                 uint64_t shift);

/* `event`: what it is in the profile of all. Histograms and tallies beyond those that a summary can
 * hold are left out. */
void event_summaries_join(struct event_summaries *summaries, event_id event, struct carry *carry,
                          const struct event_summary *next);

/* The time between two recordings is not counted: a thread then ends earlier. */
void thread_times_join(struct thread_times *times, struct carry *carry,
                       const struct thread_times *next, uint64_t shift);
