// SPDX-License-Identifier: Apache-2.0
/* The events of a target as event_probes.c and event_totals.c share them. */
#pragma once

#include "budget/windows.h"
#include "capture/event_probes.h"
#include "capture/event_sites.h"

/* The counts up to a moment. */
struct event_counts {
    struct wire_slot_counts slot;
    struct wire_histogram *histograms; /* in the order of the event's kind */
    double cost_ns;
    uint64_t target_cpu_ns;
};

/* The work of the target, by the counter that varies with the hits of an event. */
struct work {
    enum vm_counter counter;
    struct vm_work at_start; /* when summaries began; 0 if not known */
    struct vm_work last;     /* the last value that the governor got */
};

struct probed_event {
    const struct event_request *request;
    const struct event_kind *kind;
    uint32_t slot, histogram;
    struct event_places places;
    struct probe_site sites[EVENT_PLACES_MAX];
    int group; /* number in the governor; -1 if refused */
    struct error refused;
    bool is_reported; /* that it is refused */
    struct wire_slot state;
    struct work work;
    struct estimate estimates[EVENT_VALUES], hits;
    struct vm_work so_far; /* since summaries began */
    struct window_lengths lengths;
    struct event_spans seen;    /* windows that were not taken yet, as those of event 0 */
    struct event_counts before; /* what was counted when summaries began */
};

struct event_probes {
    struct event_probes_options options;
    struct probed_event *events;
    struct governor *governor;
    uint64_t started, stopped; /* when summaries begin; when the probes were detached, 0 before */
    uint64_t looked;           /* CLOCK_MONOTONIC: when the work of the target was last read */
    double so_far_ns;          /* from `started` to `looked` */
    struct work work;          /* of all that the target does */
};

/* The work that varies with a value; 0 for one that grows with time. */
double event_totals_work_of_value(const struct probed_event *event, int value,
                                  const struct vm_work *work);
