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
struct events *events_new(const struct session_options *options, const struct targets *targets,
                          struct profile *profile);
/* The targets must have left the session: their probes use `events`. */
void events_free(struct events *events);

/* Set the sizes that the programs need for `targets` targets. */
void events_sizes(const struct events *events, uint32_t targets, struct programs_options *sizes);

/* Find the hooks of each target in its code, and request their programs. Borrows `programs` and
 * `locks`. */
int events_find(struct events *events, struct programs *programs, struct memory_locks *locks,
                struct error *error);

/* Attach the probes. An event that a target refuses is a warning. If all targets refuse all events,
 * and CPU time is not sampled either, that is an error. */
int events_start(struct events *events, struct error *error);
void events_stop(struct events *events);

/* Find the hooks of a target that starts later, and attach its probes. An event that it refuses is
 * a warning. */
int events_join(struct events *events, struct target *target, struct error *error);

/* Detach the probes of a target that has ended. Its held samples have their scales then. */
void events_leave(struct target *target);

/* Drop what is held of a target before it is freed. */
void events_forget(struct events *events, const struct target *target);

/* Take a symbolized sample of an event of this target. It is held until its window is closed,
 * because its scale is not known before. */
void events_sample(struct events *events, const struct target *target,
                   const struct snapshot *snapshot, const struct wire_hit *hit,
                   const struct sample *sample);

/* True if an event needs CPU samples, even if these are not recorded. */
bool events_need_cpu_samples(const struct events *events);
int events_cpu_sample(struct events *events, const struct target *target,
                      const struct snapshot *snapshot, const struct sample *sample,
                      struct segment *segment, struct error *error);

/* Append the held samples whose scale is known now. */
int events_release(struct events *events, struct segment *segment, struct error *error);
/* Return the time of the oldest sample that is held; UINT64_MAX if none is. */
uint64_t events_oldest(const struct events *events);

/* Write the summaries of what was counted since the segment began. */
int events_put_summaries(struct events *events, struct segment *segment, struct error *error);

/* End the counts of this segment. */
void events_end(struct events *events);
/* Begin the next segment. `profile` must be new, and have the events that the old one had before
 * events_new(), but no others. Samples that are still held move there; the old profile is needed
 * until then. */
void events_begin(struct events *events, struct profile *profile);
