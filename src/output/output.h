// SPDX-License-Identifier: Apache-2.0
/*
 * Formats. Each is a file of its own that fills a struct output_format; the list is in output.c.
 * A writer gets every sample through a view, in time order, and ends with finish().
 */
#pragma once

#include <stdio.h>

#include "profile/profile.h"
#include "profile/recording.h"
#include "profile/view.h"
#include "util/error.h"

struct output_source {
    const struct recording_header *header;
    const struct profile *profile; /* grows while samples are passed */
    struct view *view;
};

struct output_format {
    const char *name;        /* for --format: "perf" */
    const char *suffixes[3]; /* ".perf", ".perf.gz", NULL */
    /* Begin to write to `file`. Returns the writer's state, NULL with error. */
    void *(*begin)(FILE *file, const struct output_source *source, struct error *error);
    int (*sample)(void *state, const struct sample *sample, struct error *error);
    /* Write what is left; totals hold the losses. Does not close the file. Frees the state, also
     * when begin() was the only call before (an aborted output passes totals NULL). */
    int (*finish)(void *state, const struct recording_totals *totals, struct error *error);
};

/* The format that a file name asks for (longest suffix), or NULL. */
const struct output_format *output_format_of(const char *path);
const struct output_format *output_format_named(const char *name);
/* "perf, folded, svg, bfr": for messages, and valid until the end of the program. */
const char *output_format_names(void);

/* Where to write: `path` ("-" is standard output), in the format of its name where `format` is
 * NULL; or, where `file` is not NULL, into that file, which stays open. */
struct output_request {
    const char *path;
    const struct output_format *format;
    FILE *file;
};

/* Before hours of recording: whether the requests can be met, as far as can be told without
 * writing (formats, directories, no path twice). */
int output_check(const struct output_request *requests, size_t count, struct error *error);

/* Write a recording into each of `requests` in one pass. Each file is written under a temporary
 * name in the same directory and renamed when all are whole: no partial file is left behind, and
 * what was there before stays on failure. Names that end in `.gz` are compressed. A recording
 * without samples is an error (ERROR_NO_SAMPLES). */
int output_write(struct recording *recording, const struct view_options *options,
                 const struct output_request *requests, size_t count,
                 struct recording_totals *ret_totals, struct error *error);
