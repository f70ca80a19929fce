// SPDX-License-Identifier: Apache-2.0
/*
 * The events of a session: probes of each target, and their samples on the way into the recording.
 *
 *   new ──> find ──> (programs_load, programs_add_target) ──> start ──> { sample, release }...
 *       ──> stop ──> release ──> free
 *
 * For another recording: end ──> release ──> put_summaries ──> begin.
 */
#pragma once

#include <stdbool.h>

#include "capture/event_probes.h"
#include "profile/recording.h"
#include "session/options.h"
#include "session/part.h"
#include "session/targets.h"
#include "symbol/symbolizer.h"

struct events;

/* Defines the events in the profile. Options and profile are borrowed. */
struct events *events_new(const struct session_options *options, struct profile *profile);
void events_free(struct events *events);

/* How much room the programs need. */
void events_sizes(const struct events *events, const struct targets *targets,
                  struct programs_options *sizes);

/* Find the probe points of each target in its code, and say that their programs are wanted. */
int events_find(struct events *events, struct programs *programs, const struct targets *targets,
                struct symbolizer *const *symbolizers, struct error *error);

/* Attach. An event that a target refuses is a warning; if all are refused, that is an error. */
int events_start(struct events *events, struct error *error);
void events_stop(struct events *events);

/* A sample of an event, named, comes from target `target`. What it stands for is known when its
 * window is closed: until then it is held. */
void events_sample(struct events *events, size_t target, const struct snapshot *snapshot,
                   const struct wire_hit *hit, const struct sample *sample);

/* Some events learn from CPU samples, whether or not these are recorded. */
bool events_need_cpu_samples(const struct events *events);
int events_cpu_sample(struct events *events, size_t target, const struct snapshot *snapshot,
                      const struct sample *sample, struct part *part, struct error *error);

/* Append the samples that are no longer held. */
int events_release(struct events *events, struct part *part, struct error *error);

/* Write what was counted since the recording began. */
int events_put_summaries(struct events *events, struct part *part, struct error *error);

/* End what is counted for this recording. */
void events_end(struct events *events);
/* Go on for another one: `profile` is new, and has nothing but the events that were defined before
 * these. Samples that are still held go there. The old one is needed until then. */
void events_begin(struct events *events, struct profile *profile);
