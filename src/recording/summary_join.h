// SPDX-License-Identifier: Apache-2.0
/*
 * Joins the counts of several recordings, as if they came from one. Each function adds the counts
 * of the next recording to a sum, which is all zero at first. `remap` copies from the profile of
 * the next recording to the joined one. `shift` is added to the times of the next recording
 * (wrapping).
 */
#pragma once

#include "profile/event_summary.h"
#include "profile/profile_remap.h"
#include "profile/threads.h"
#include "recording/recording.h"

void summary_join_totals(struct recording_totals *totals, const struct recording_totals *next,
                         uint64_t shift);

/* `event` is the id in the joined profile. Histograms and tallies beyond the maximum of a summary
 * are dropped. */
void summary_join_events(struct event_summaries *summaries, event_id event,
                         struct profile_remap *remap, const struct event_summary *next);

/* The time between two recordings is not counted, so a thread's `to` is earlier than its real end.
 */
void summary_join_threads(struct thread_times *times, struct profile_remap *remap,
                          const struct thread_times *next, uint64_t shift);

/* Return the number of readings that are left out, because there are NODE_SERIES_MAX series. */
uint64_t summary_join_node_metrics(struct node_metrics *metrics, struct profile_remap *remap,
                                   const struct node_metrics *next, uint64_t shift);

void summary_join_lives(struct target_lives *lives, struct profile_remap *remap,
                        const struct target_lives *next, uint64_t shift);
