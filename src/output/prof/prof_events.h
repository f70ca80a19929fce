// SPDX-License-Identifier: Apache-2.0
/* The events that tables are made of: one of own time or words, and those that count calls. */
#pragma once

#include <stdbool.h>

#include "output/output.h"
#include "output/prof/prof.h"
#include "profile/row_interval.h"

struct prof_event {
    bool is_used;
    uint32_t value; /* the one that tables show */
    char *function; /* of an event of calls: as frames show it, or the event's name */
    struct row_whole whole;
    struct row_cover cover;
};

struct prof_events {
    struct prof_event *of; /* by id */
    uint32_t count;
    event_id own;    /* its first value is own time or words; 0: tables have only calls */
    bool is_time;    /* `own` has ticks of a clock */
    event_id *calls; /* the events of calls, sorted by function */
    size_t call_count;
};

/* Choose the events for tables of a type. ERROR_NO_SAMPLES if the profile does not have them. */
int prof_events_choose(struct prof_events *events, const struct profile *profile,
                       enum prof_type type, struct error *error);
void prof_events_free(struct prof_events *events);

/* Return the event that counts calls of a function; 0 if there is none. */
event_id prof_events_of_function(const struct prof_events *events, const char *function);

/* Find out, at the end, how sure sums are. `is_part`: samples were not selected. */
void prof_events_cover(struct prof_events *events, const struct output_source *source,
                       bool is_part);
