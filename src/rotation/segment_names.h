// SPDX-License-Identifier: Apache-2.0
/*
 * Names the files of a recording that is made in segments. "x.svg" becomes
 *
 *      x-shop@web-1-20261121-203000.svg          NODE and TIME (UTC) when the segment began
 *      x-shop@web-1-20261121-203000.gc.svg       of one event, if there are several
 *      x-shop@web-1-20261121-203000.bfr.part     the recording, while it is made
 *
 * A NODE of more than 80 bytes is cut, and ends in a hash of all of it.
 *
 * TIME is the first second, from the segment's start on, for which no file with any of these names
 * exists. Existing files are never overwritten.
 */
#pragma once

#include <time.h>

#include "rotation/options.h"
#include "util/error.h"

struct segment_names;

/* The names of the files. A format of one event has a name for each event of `session`. Copies
 * what it needs. */
struct segment_names *segment_names_new(const struct segment_files *files,
                                        const struct session_options *session, const char *node);
void segment_names_free(struct segment_names *names);

/* The start of a segment, as in its names. */
struct segment_time {
    char text[16]; /* "20261121-203000" */
};

/* Create the file to record into. It is locked while it is open, so that no one else writes to it.
 * `seconds`: since 1970. -1 with error. */
int segment_names_create(const struct segment_names *names, time_t seconds,
                         struct segment_time *ret_time, struct error *error);

/* The names of a segment. The caller frees them. */
char *segment_names_temporary(const struct segment_names *names, struct segment_time time);
/* NULL if no recording is requested. */
char *segment_names_recording(const struct segment_names *names, struct segment_time time);
/* Of files->requests[index]. */
char *segment_names_output(const struct segment_names *names, size_t index,
                           struct segment_time time);
/* NULL if no statistics are requested. */
char *segment_names_statistics(const struct segment_names *names, struct segment_time time);

/* For each of these names, remove all files except the newest `keep` up to the time `newest`. Only
 * regular files of this user, or of the user who ran sudo, count and are removed. Files that are
 * being written stay. */
void segment_names_remove_old(const struct segment_names *names, size_t keep,
                              struct segment_time newest);

/* Remove unfinished outputs of this user's run that was killed. Its recordings stay. */
void segment_names_remove_leftovers(const struct segment_names *names);
