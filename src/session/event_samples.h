// SPDX-License-Identifier: Apache-2.0
/*
 * The events of a session: the probes of each target, and the way of their samples into the
 * recording.
 *
 *   new ──> find ──> (programs_load, programs_add_target) ──> start ──> { sample, release }...
 *       ──> stop ──> release ──> free
 *
 * For the next segment: end ──> release ──> put_summaries ──> begin.
 */
#pragma once

#include <stdbool.h>

#include "capture/event_probes.h"
#include "recording/recording.h"
#include "session/options.h"
#include "session/segment.h"
#include "session/targets.h"
#include "symbol/symbolizer.h"

struct events;

/* Define the events in the profile. Borrows all arguments. */
struct events *event_samples_new(const struct session_options *options,
                                 const struct targets *targets, struct profile *profile);
/* The targets must have left the session: their probes use `events`. */
void event_samples_free(struct events *events);

/* Set the sizes that the programs need for `targets` targets. */
void event_samples_sizes(const struct events *events, uint32_t targets,
                         struct programs_options *sizes);

/* Find the hooks of each target in its code, and request their programs. Borrows `programs` and
 * `locks`. */
int event_samples_find(struct events *events, struct programs *programs, struct memory_locks *locks,
                       struct error *error);

/* Attach the probes. An event that a target refuses is a warning. If all targets refuse all events,
 * and CPU time is not sampled either, that is an error. */
int event_samples_start(struct events *events, struct error *error);
void event_samples_stop(struct events *events);

/* Find the hooks of a target that starts later, and attach its probes. An event that it refuses is
 * a warning. */
int event_samples_join(struct events *events, struct target *target, struct error *error);

/* Detach the probes of a target that has ended. Its held samples have their scales then. */
void event_samples_leave(struct target *target);

/* Drop what is held of a target before it is freed. */
void event_samples_forget(struct events *events, const struct target *target);

/* Take a symbolized sample of an event of this target. It is held until its window is closed,
 * because its scale is not known before. */
void event_samples_take(struct events *events, const struct target *target,
                        const struct snapshot *snapshot, const struct wire_hit *hit,
                        const struct sample *sample);

/* True if an event needs CPU samples, even if these are not recorded. */
bool event_samples_need_cpu(const struct events *events);
int event_samples_take_cpu(struct events *events, const struct target *target,
                           const struct snapshot *snapshot, const struct sample *sample,
                           struct segment *segment, struct error *error);

/* Append the held samples whose scale is known now. */
int event_samples_release(struct events *events, struct segment *segment, struct error *error);
/* Return the time of the oldest sample that is held; UINT64_MAX if none is. */
uint64_t event_samples_oldest(const struct events *events);

/* Write the summaries of what was counted since the segment began. */
int event_samples_put_summaries(struct events *events, struct segment *segment,
                                struct error *error);

/* End the counts of this segment. */
void event_samples_end(struct events *events);
/* Begin the next segment. `profile` must be new, and have the events that the old one had before
 * event_samples_new(), but no others. Samples that are still held move there; the old profile is
 * needed until then. */
void event_samples_begin(struct events *events, struct profile *profile);
