// SPDX-License-Identifier: Apache-2.0
/*
 * Two recordings of which one is compared with the other. They lie one after the other in one
 * recording: side 0, what is compared with, and after a gap side 1, what is compared.
 */
#pragma once

#include <stdint.h>

#include "profile/recording.h"
#include "util/error.h"

/* What both sides are made equal by, before they are compared. */
enum comparison_per {
    PER_TIME,  /* as if both were as long */
    PER_TOTAL, /* as if both had the same total */
    PER_NONE,
};
const char *comparison_per_name(enum comparison_per per); /* "time" */
/* ERROR_USAGE names those there are. */
int comparison_per_parse(const char *name, enum comparison_per *per, struct error *error);

struct comparison_side {
    const char *name;
    struct recording_header header; /* of the recording that it was */
    struct recording_totals totals;
    uint64_t from_ms, to_ms; /* since the start of the whole */
};

struct comparison {
    struct comparison_side sides[2];
    enum comparison_per per;
};

/* How long a recording is, in whole ms, rounded up. */
uint64_t recording_ms(const struct recording_header *header, const struct recording_totals *totals);

/* 0 or 1. `start`: of the whole, ns. */
int comparison_side_of(const struct comparison *comparison, uint64_t start,
                       const struct sample *sample);

/* What side 0 is multiplied by. Where one side is nothing, both are compared as they are. */
double comparison_scale(const struct comparison *comparison, const double totals[2]);
