// SPDX-License-Identifier: Apache-2.0
/*
 * The events of one target: its probes, attached within their budget, and what they counted.
 *
 *   new ──> (programs_load, programs_add_target) ──> start ──> { scale, summary, begin }...
 *       ──> stop ──> { scale, summary }... ──> free
 *
 * An event whose probe points are not found is refused, and says why; the others go on.
 */
#pragma once

#include "capture/calibration.h"
#include "capture/event_kinds.h"
#include "capture/governor.h"
#include "capture/programs.h"
#include "capture/sampler.h"
#include "profile/event_summary.h"
#include "util/error.h"

enum { EVENTS_MAX = 32 };

struct event_probes;

struct event_probes_options {
    struct programs *programs; /* open, not loaded */
    struct vm *vm;
    struct hooks *hooks;
    const struct calibration *calibration;
    const struct event_request *events;
    int count;
    uint32_t target;       /* 0, 1, 2...: of those in `programs` */
    double budget;         /* part of the target's CPU time: 0.01 */
    uint32_t long_us;      /* what a long schedule is */
    struct sampler *ticks; /* runs the kinds' tick program, started and unwanted; NULL: none */
};

/* All borrowed, also the array. Finds the probe points. */
struct event_probes *event_probes_new(const struct event_probes_options *options);
void event_probes_free(struct event_probes *probes);

/* The first slot and histogram of event `i` of a target, and how many there are of all. */
uint32_t event_slots(int targets, int count);
uint32_t event_histograms(const struct event_request *events, int count, int targets);

/* -1 with error if the event was refused: its probe points were not found, or not attached. */
int event_probes_refused(const struct event_probes *probes, int event, struct error *error);

int event_probes_start(struct event_probes *probes, struct error *error);
/* The last windows close. */
void event_probes_stop(struct event_probes *probes);

/* Which event of this target a sample is of; -1 if of none. */
int event_probes_event(const struct event_probes *probes, uint32_t slot);

/* What a sample stands for: its values are to be multiplied by that of them that goes with the kind
 * of value (event_kind.by_time). */
struct event_scale {
    double by_time, by_work;
};
enum window_answer event_probes_scale(struct event_probes *probes, int event,
                                      const struct wire_hit *hit, uint64_t time,
                                      struct event_scale *ret_scale);

/* Take notice of windows that were closed. */
void event_probes_update(struct event_probes *probes);

/* End what is counted now, and take notice of it: what is in a summary until event_probes_begin().
 */
void event_probes_end(struct event_probes *probes);
/* Summaries are of what is counted from now on. A window that is open now is of it as a whole. */
void event_probes_begin(struct event_probes *probes);

/* Add what was counted of an event to a summary: of several targets, each is added. Histograms and
 * tallies are those of the event's kind, in order. */
void event_probes_add_summary(const struct event_probes *probes, int event,
                              struct event_summary *summary, struct event_histogram *histograms,
                              struct event_tally *tallies);
