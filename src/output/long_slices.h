// SPDX-License-Identifier: Apache-2.0
/*
 * The longest of the slices that event sched saw as long schedules. A slice is put together from
 * the samples that were taken in it; the last of them has another status than `running`.
 */
#pragma once

#include <stdio.h>

#include "profile/profile.h"

enum { LONG_SLICES_MAX = 10 };

struct long_slice {
    uint64_t end, ns;
    process_id process;
    stack_id stack; /* of the sample that stands for the most time, `stack_ns` */
    uint64_t stack_ns;
};

struct long_slices {
    struct long_slice *open; /* unfinished slices, by thread id */
    uint32_t open_count;
    struct long_slice longest[LONG_SLICES_MAX]; /* the longest first */
    uint32_t count;
    uint64_t slices; /* seen in all */
};

void long_slices_free(struct long_slices *slices);

/* Add a sample whose value SCHED_LONG is not 0. */
void long_slices_add(struct long_slices *slices, const struct sample *sample);

/* Finish the slices whose end was not seen. */
void long_slices_finish(struct long_slices *slices);

/* Write the longest slices as text, each with its stack. Their times are relative to
 * `start_monotonic` (ns). */
void long_slices_write(FILE *file, const struct profile *profile, const struct long_slices *slices,
                       uint64_t start_monotonic);
