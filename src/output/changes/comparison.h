// SPDX-License-Identifier: Apache-2.0
/*
 * A comparison of two recordings. They are concatenated in one recording: first side 0, the
 * baseline; then, after a gap, side 1, which is compared with the baseline.
 */
#pragma once

#include <stdint.h>

#include "recording/recording.h"
#include "util/error.h"

/* How side 0 is scaled before the sides are compared. */
enum comparison_per {
    PER_TIME,  /* to the duration of side 1 */
    PER_TOTAL, /* to the total weight of side 1 */
    PER_NONE,
};
const char *comparison_per_name(enum comparison_per per); /* "time" */
/* Fails with ERROR_USAGE, which lists the valid names. */
int comparison_per_parse(const char *name, enum comparison_per *per, struct error *error);

/* The order of the table of functions. */
enum comparison_sort {
    SORT_CHANGE, /* by the change of a function with its callees */
    SORT_SELF,   /* by the change without them */
    SORT_TOTAL,  /* by the larger of the two weights with callees */
};
/* Fails with ERROR_USAGE, which lists the valid names. */
int comparison_sort_parse(const char *name, enum comparison_sort *sort, struct error *error);

struct comparison_side {
    const char *name;
    struct recording_header header; /* of the original recording */
    struct recording_totals totals;
    const struct recording *recording; /* the original one, as read; NULL: not known */
    const struct profile *profile;     /* the same */
    uint64_t from_ms, to_ms;           /* since the start of the combined recording */
};

struct comparison {
    struct comparison_side sides[2];
    enum comparison_per per;
    enum comparison_sort sort;
    bool of_all_events; /* text has all events that both have; else the selected one */
};

/* True if the original recording has an event of this name. */
bool comparison_side_has(const struct comparison_side *side, const char *event);

/* Return the summary of the event in the original recording; NULL: none. */
const struct event_summary *comparison_summary(const struct comparison_side *side,
                                               const char *event);

/* Return the duration of a recording in ms, rounded up. */
uint64_t comparison_recording_ms(const struct recording_header *header,
                                 const struct recording_totals *totals);

/* Return the side of a sample, 0 or 1. `start`: CLOCK_MONOTONIC start of the combined recording, in
 * ns. */
int comparison_side_of(const struct comparison *comparison, uint64_t start,
                       const struct sample *sample);

/* Return the factor for side 0; `totals` are the total weights of the sides. The factor is 1 if the
 * duration or total that counts is 0 on either side. */
double comparison_scale(const struct comparison *comparison, const double totals[2]);
