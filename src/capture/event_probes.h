// SPDX-License-Identifier: Apache-2.0
/*
 * The events of one target: probes, attached within their budget, and their counts.
 *
 *   new ──> (programs_load,) programs_add_target ──> start ──> { scale, summary, begin }...
 *       ──> stop ──> { scale, summary }... ──> free
 *
 * An event whose places are not found is refused, with the reason; the others continue.
 */
#pragma once

#include "capture/calibration.h"
#include "capture/event_kinds.h"
#include "capture/governor.h"
#include "capture/memory_lock.h"
#include "capture/programs.h"
#include "capture/sampler.h"
#include "profile/event_spans.h"
#include "profile/event_summary.h"
#include "util/error.h"

enum { EVENTS_MAX = 32 };

struct event_probes;

struct event_probes_options {
    struct programs *programs; /* open. If it is loaded already, events whose programs are not
                                * loaded are refused */
    struct vm *vm;
    struct hooks *hooks;        /* needed by event_probes_new() only */
    struct memory_locks *locks; /* NULL: probes are attached whoever holds a lock */
    const struct calibration *calibration;
    const struct event_request *events;
    int count;
    uint32_t wanted;         /* 1 << index of each event that is recorded of this target */
    uint32_t target;         /* number of the target in `programs`: 0, 1, 2... */
    double budget;           /* share of the target's CPU time that probes may cost: 0.01 */
    struct host_limit *host; /* limit of all targets together; NULL: none */
    double stacks;           /* of each event a second, on average; 0: no limit */
    struct alarms *alarms;   /* wake the governor while the target does little (alarms.h) */
    uint32_t long_us;        /* us from which a slice is a long schedule */
    struct sampler *ticks;   /* runs the kinds' tick program; started, without users; NULL: none */
};

/* Find the places of the probes. All options are borrowed, the array of events too. */
struct event_probes *event_probes_new(const struct event_probes_options *options);
void event_probes_free(struct event_probes *probes);

/* -1 with error if the event was refused: it is not wanted, its places were not found, or its
 * probes not attached. */
int event_probes_refused(const struct event_probes *probes, int event, struct error *error);
/* True at the first call for an event that is wanted and refused: the caller reports it. */
bool event_probes_are_to_report(struct event_probes *probes, int event);

int event_probes_start(struct event_probes *probes, struct error *error);
/* Close the last windows, and detach. */
void event_probes_stop(struct event_probes *probes);

/* Close the windows, and detach until event_probes_resume(), which begins new summaries. */
void event_probes_pause(struct event_probes *probes);
void event_probes_resume(struct event_probes *probes);

/* The event of this target that a slot belongs to; -1 if none. */
int event_probes_event(const struct event_probes *probes, uint32_t slot);

/* The scales of a sample. Each value is multiplied by the scale for its kind
 * (event_kind.by_time). */
struct event_scale {
    double by_time, by_work;
};
enum window_answer event_probes_scale(struct event_probes *probes, int event,
                                      const struct wire_hit *hit, uint64_t time,
                                      struct event_scale *ret_scale);

/* Take the windows that have been closed into account. */
void event_probes_update(struct event_probes *probes);

/* Move the windows of an event since the last call to the spans of event `id`. */
void event_probes_take_spans(struct event_probes *probes, int event, struct event_spans *spans,
                             event_id id);

/* End the current windows, and take them into account: they are in summaries until
 * event_probes_begin(). */
void event_probes_end(struct event_probes *probes);
/* Begin new summaries, of counts from now on. A window that is open now belongs to them as a
 * whole. */
void event_probes_begin(struct event_probes *probes);

/* Add the counts of an event to a summary. For several targets, add each. Histograms and tallies
 * are in the order of the event's kind. */
void event_totals_add_summary(const struct event_probes *probes, int event,
                              struct event_summary *summary, struct event_histogram *histograms,
                              struct event_tally *tallies);
