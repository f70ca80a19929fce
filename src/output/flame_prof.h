// SPDX-License-Identifier: Apache-2.0
/*
 * Event lines in the perf-script dialect that flame_prof (github.com/ebegumisa/flame_prof) writes
 * and its fork of FlameScope reads. A line begins with the status and pid of the process. Each
 * metric follows the event, with its change since the previous sample of the process.
 *
 *      STATUS<tab>0.123.0 [CPU] SECONDS.MICROS: EVENT:<tab>metric_erlang_NAME: VALUE, CHANGE...
 */
#pragma once

#include <stdio.h>

#include "profile/profile.h"

struct flame_prof;

/* `profile` is borrowed. */
struct flame_prof *flame_prof_new(const struct profile *profile);
void flame_prof_free(struct flame_prof *flame_prof);

/* Write the event line of a sample. Call for every sample, in order of time. `micros` is the time
 * of the sample in us, `event` the event's name. */
void flame_prof_line(struct flame_prof *flame_prof, FILE *file, const struct sample *sample,
                     uint64_t micros, const char *event);
