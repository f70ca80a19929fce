// SPDX-License-Identifier: Apache-2.0
/*
 * The longest of the slices that event sched saw as long schedules: put together from the samples
 * that were taken in each, of which the last has another status than `running`.
 */
#pragma once

#include <stdio.h>

#include "profile/profile.h"

enum { LONG_SLICES_MAX = 10 };

struct long_slice {
    uint64_t end, ns;
    process_id process;
    stack_id stack; /* where it was for the greatest part of the time that its samples tell */
    uint64_t stack_ns;
};

struct long_slices {
    struct long_slice *open; /* by thread id */
    uint32_t open_count;
    struct long_slice longest[LONG_SLICES_MAX]; /* the longest first */
    uint32_t count;
    uint64_t slices; /* in all */
};

void long_slices_free(struct long_slices *slices);

/* A sample whose value SCHED_LONG is not 0. */
void long_slices_add(struct long_slices *slices, const struct sample *sample);

/* Take those whose end was not seen for ended. */
void long_slices_finish(struct long_slices *slices);

/* The longest as text, each with where it was, by time since `start_monotonic`. */
void long_slices_write(FILE *file, const struct profile *profile, const struct long_slices *slices,
                       uint64_t start_monotonic);
