// SPDX-License-Identifier: Apache-2.0
/*
 * The files of a recording that is made in parts. "x.svg" becomes
 *
 *      x-shop@web-1-20261121-203000.svg          NODE and TIME (UTC) when the part began
 *      x-shop@web-1-20261121-203000.gc.svg       of one event, where there are several
 *      x-shop@web-1-20261121-203000.bfr.part     the recording, while it is made
 *
 * The time is the first second, from the begin of the part on, that no file of these names has yet:
 * what is there is never written over.
 */
#pragma once

#include "cli/options.h"
#include "util/error.h"

struct part_names;

/* Of the outputs, and of the recording where one is asked for (else `recording` is NULL); borrowed.
 */
struct part_names *part_names_new(const struct record_options *options, const char *recording,
                                  const char *node);
void part_names_free(struct part_names *names);

/* When a part began, as it is in its names. */
struct part_time {
    char text[16]; /* "20261121-203000" */
};

/* Create the file to record into, which no one else writes to while it is open. `seconds`: since
 * 1970. -1 with error. */
int part_names_create(const struct part_names *names, time_t seconds, struct part_time *ret_time,
                      struct error *error);

/* The names of a part, to be freed. */
char *part_names_temporary(const struct part_names *names, struct part_time time);
/* NULL if none is asked for. */
char *part_names_recording(const struct part_names *names, struct part_time time);
/* Of options->output.requests[index]. */
char *part_names_output(const struct part_names *names, size_t index, struct part_time time);
/* NULL if none are asked for. */
char *part_names_statistics(const struct part_names *names, struct part_time time);

/* Of each of these names, remove all files but the newest `keep`; what is written to now stays. */
void part_names_remove_old(const struct part_names *names, size_t keep);

/* Remove what was left of outputs by a run that was killed while it wrote them. Recordings that it
 * left are no such thing. */
void part_names_remove_leftovers(const struct part_names *names);
