// SPDX-License-Identifier: Apache-2.0
/*
 * Events `call:MODULE:FUNCTION/ARITY` of a session: calls of functions in its VM, counted by
 * breakpoints (calls/call_watch.h).
 *
 * Each second, a sample for each process and caller has the calls that were made since the last
 * one. The samples add up to all calls. Their stacks have the caller and the function. Calls
 * that are counted in windows have several samples, which stand for those that were not seen.
 * Windows end with each segment, and begin anew: so each has totals and intervals of its own.
 *
 *   new ──> start ──> step... ──> stop ──> end_segment ──> free
 *
 *   the next segment:  step ──> end_segment ──> begin_segment ──> step
 *   a pause:           step ──> stop ──> end_segment ──> begin_segment ──> resume ──> step
 *
 * All but new() and start() take NULL, and do nothing then: no calls are counted.
 */
#pragma once

#include <stdbool.h>

#include "session/options.h"
#include "session/segment.h"
#include "session/target.h"

struct call_events;

/* Find the functions in the VM, and define their events in the segment. Borrows the options and the
 * target. NULL with error if a function is not there. */
struct call_events *call_events_new(const struct session_options *options,
                                    const struct target *target, struct segment *segment,
                                    struct error *error);
void call_events_free(struct call_events *events);

/* Begin to count. */
int call_events_start(struct call_events *events, struct error *error);

/* Open and close windows, and append samples, if it is time. If counting fails, it warns and counts
 * no more. Fails if the samples can't be written. */
int call_events_step(struct call_events *events, struct segment *segment, struct error *error);

/* Return the part of the timeout (ms) after which a step is due. */
int call_events_limit_timeout(const struct call_events *events, int timeout_ms);

/* Count no more. */
void call_events_stop(struct call_events *events);

/* Append the last samples of the segment. If calls are counted in windows, they end. */
int call_events_end_segment(struct call_events *events, struct segment *segment,
                            struct error *error);

/* Write the summaries of the segment so far. */
int call_events_put_summaries(const struct call_events *events, struct segment *segment,
                              struct error *error);

/* From now on, samples are of this segment. Windows begin again. */
void call_events_begin_segment(struct call_events *events, struct segment *segment);

/* Count again after stop(). If that fails, it warns. */
void call_events_resume(struct call_events *events);
