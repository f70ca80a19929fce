// SPDX-License-Identifier: Apache-2.0
/* The recording of a segment, until its outputs are written. */
#pragma once

#include <stddef.h>

#include "rotation/options.h"
#include "rotation/segment_names.h"
#include "util/error.h"

/* What all segments have in common. */
struct segment_context {
    const struct segment_files *files;
    const struct rotation_reports *reports;
    const struct segment_names *names;
};

/* Report the error. Return the exit code. */
int segment_source_report(const struct segment_context *context, const struct error *error);

struct segment_source {
    struct segment_time time; /* for its names */
    int *fds;                 /* read the segment, or its pieces */
    size_t count;
    char *trigger; /* of pieces that are joined into `file`; else NULL and -1 */
    int file;
};

/* Takes over the descriptors, but copies their list and the trigger. */
struct segment_source *segment_source_new(struct segment_time time, const int *fds, size_t count,
                                          const char *trigger, int file);
/* Close the descriptors. `source` may be NULL. */
void segment_source_free(struct segment_source *source);

/* Return a descriptor that reads the segment, which is joined first if it is in pieces; -1 with
 * error. */
int segment_source_open(const struct segment_context *context, const struct segment_source *source,
                        struct error *error);

/* Report where the recording of a segment is that could not be written, which `fd` reads: under one
 * of the names that it should have, or under a new name elsewhere. */
void segment_source_keep_as(const struct segment_context *context,
                            const struct segment_source *source, int fd);

/* Keep the recording of a segment that no process writes. */
void segment_source_keep(const struct segment_context *context,
                         const struct segment_source *source);

/* Keep the recording of a segment whose process was killed. Pieces are joined again, unless the
 * process has given the result its name. */
void segment_source_keep_of_killed(const struct segment_context *context,
                                   const struct segment_source *source);
