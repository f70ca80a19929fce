// SPDX-License-Identifier: Apache-2.0
/*
 * The longest of the slices that event sched saw as long schedules. A slice is put together from
 * the samples that were taken in it; the last of them has another status than `running`.
 */
#pragma once

#include <stdio.h>

#include "profile/profile.h"

enum { LONG_SLICES_MAX = 10 };

struct long_schedule {
    uint64_t end, ns;
    process_id process;
    stack_id stack; /* of the sample that stands for the most time, `stack_ns` */
    uint64_t stack_ns;
};

struct long_schedules {
    struct long_schedule *open; /* unfinished slices, by thread id */
    size_t open_count;
    struct long_schedule longest[LONG_SLICES_MAX]; /* the longest first */
    uint32_t count;
    uint64_t slices; /* seen in all */
};

void long_schedules_free(struct long_schedules *slices);

/* Add a sample whose value SCHED_LONG is not 0. */
void long_schedules_add(struct long_schedules *slices, const struct sample *sample);

/* Finish the slices whose end was not seen. */
void long_schedules_finish(struct long_schedules *slices);

/* Write the longest slices as text, each with its stack. Their times are relative to
 * `start_monotonic` (ns). */
void long_schedules_write(FILE *file, const struct profile *profile,
                          const struct long_schedules *slices, uint64_t start_monotonic);
