// SPDX-License-Identifier: Apache-2.0
/*
 * Formats. Each is a file of its own that fills a struct output_format; the list is in output.c.
 * A writer gets every sample through a view, in time order, and ends with finish().
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "output/comparison.h"
#include "profile/profile.h"
#include "profile/recording.h"
#include "profile/selection.h"
#include "profile/view.h"
#include "util/error.h"

/* What is asked of all formats. */
struct output_settings {
    struct view_options view;
    const char *event; /* only the samples of this event; NULL: of all */
    const char *value; /* what samples count; NULL: the first value of their event */
    bool change;       /* since the process' sample before: `value` is a metric */
    struct selection_options selection;
    const struct comparison *comparison; /* of the two that the recording is; NULL: it is one */
};

struct output_source {
    const struct recording *recording; /* for what was counted, known at the end */
    const struct recording_header *header;
    const struct profile *profile; /* grows while samples are passed, but for its events */
    struct view *view;
    event_id event;                            /* the one that is asked for; 0: all there are */
    const char *value;                         /* that is asked for, or NULL (output/weight.h) */
    bool change;                               /* of it, a metric */
    const struct selection_options *selection; /* NULL: none */
    const struct comparison *comparison;       /* NULL: none */
};

/* Of a comparison the side of a sample, 0 or 1; 0 where nothing is compared. */
int output_side(const struct output_source *source, const struct sample *sample);

/* How long the part of the recording is that is asked for. */
double output_seconds(const struct output_source *source, const struct recording_totals *totals);

/* When it begins, ns since 1970. */
uint64_t output_start(const struct output_source *source);

struct output_format {
    const char *name;        /* for --format: "perf" */
    const char *suffixes[3]; /* ".perf", ".perf.gz", NULL */
    /* Holds samples of one event: where there are several, there is a file for each. */
    bool one_event;
    /* Of those, all that know another process, whatever they count; else those that count. */
    bool of_peers;
    /* What shows a comparison under this name; NULL: nothing. */
    const struct output_format *comparing;
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
/* ".perf, .folded, .svg": the first suffix of each format that has one, in the same way. */
const char *output_suffixes(void);

/* Where to write: `path` ("-" is standard output), in the format of its name where `format` is
 * NULL; or, where `file` is not NULL, into that file, which stays open. */
struct output_request {
    const char *path;
    const struct output_format *format;
    FILE *file;
    bool optional; /* nobody named it, or will miss it */
};

/* Before hours of recording: whether the requests can be met by a recording of so many events, some
 * of which tell other processes (`peers`) or none, as far as can be told without writing (formats,
 * directories, no path twice). */
int output_check(const struct output_request *requests, size_t count, uint32_t events, bool peers,
                 struct error *error);

struct output_result {
    struct recording_totals totals;
    char **paths; /* of the files that were written */
    size_t path_count;
    const struct output_request **empty; /* those that no sample counts for: not written */
    size_t empty_count;
};
void output_result_free(struct output_result *result);

/* Write a recording into each of `requests` in one pass. Each file is written under a temporary
 * name in the same directory and renamed when all are whole: no partial file is left behind, and
 * what was there before stays on failure. Names that end in `.gz` are compressed.
 *
 * Of a recording of several events, "x.perf" becomes "x.cpu.perf", "x.gc.perf"... for those events
 * that have samples, unless one is asked for. A recording without samples of what is asked for, of
 * which nothing was counted either, is an error (ERROR_NO_SAMPLES). */
int output_write(struct recording *recording, const struct output_settings *settings,
                 const struct output_request *requests, size_t count,
                 struct output_result *ret_result, struct error *error);
