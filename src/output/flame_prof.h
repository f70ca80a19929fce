// SPDX-License-Identifier: Apache-2.0
/*
 * Event lines of the dialect of perf-script that flame_prof (github.com/ebegumisa/flame_prof)
 * writes, and its fork of FlameScope reads: who ran by status and pid, and behind the event each
 * metric with its change since the process' sample before.
 *
 *      STATUS<tab>0.123.0 [CPU] SECONDS.MICROS: EVENT:<tab>metric_erlang_NAME: VALUE, CHANGE...
 */
#pragma once

#include <stdio.h>

#include "profile/profile.h"

struct flame_prof;

/* Borrowed. */
struct flame_prof *flame_prof_new(const struct profile *profile);
void flame_prof_free(struct flame_prof *flame_prof);

/* Every sample, in order of time; `micros` is when it was, `event` the event's name. */
void flame_prof_line(struct flame_prof *flame_prof, FILE *file, const struct sample *sample,
                     uint64_t micros, const char *event);
