// SPDX-License-Identifier: Apache-2.0
/*
 * Output formats. Each format is a file of its own that defines a struct output_format; formats.c
 * lists them. A writer gets samples in order of time, shows their stacks through a view, and ends
 * with finish().
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "output/changes/comparison.h"
#include "output/event_choice.h"
#include "output/number_text.h"
#include "profile/profile.h"
#include "recording/recording.h"
#include "util/buffer.h"
#include "util/error.h"
#include "view/selection.h"
#include "view/view.h"

struct prof_options; /* output/prof/prof.h */

/* Settings for all formats. */
struct output_settings {
    struct view_options view;
    const char *event; /* only the samples of this event, or of several, separated by commas; NULL:
                        * of all. A comparison has one, and its page begins with it */
    const char *value; /* name of the weight (output/weight.h); NULL: the event's first value */
    bool change;       /* the weight is the change of `value`, which is a metric */
    bool idle;         /* show idle processes in graphs of event wall */
    bool no_labels;    /* profiles for services do not say which process ran */
    bool no_traces;    /* nor for which trace */
    bool timestamps;   /* OpenTelemetry's profiles have the time of each sample */
    const char *path;  /* of the recording, for commands that the summary names; NULL: none */
    struct selection_options selection;
    const struct comparison *comparison; /* of the two recordings in one; NULL: none */
    const struct prof_options *prof;     /* of prof_format; NULL: none */
};

/* A part of a profile that would be too large for a service. It has rows `first` to `first + most -
 * 1` of those with values, in the order in which they are written. A row is a group of samples
 * (output/protobuf/wire_types.h). */
struct output_piece {
    uint32_t first, most;
    uint32_t rows; /* set by the writer: how many there are in all */
};

struct output_source {
    const struct recording *recording; /* for summaries and thread times, complete at the end */
    const struct recording_header *header;
    const struct profile *profile; /* grows while samples are passed, except its events */
    struct view *view;
    event_id event;   /* the only one that is shown; 0: all that are selected */
    target_id target; /* of the only VM that is shown; 0: all */
    const struct event_choice *events;
    const char *value;                             /* as in output_settings */
    bool change, no_labels, no_traces, timestamps; /* as in output_settings */
    const char *path;                              /* as in output_settings */
    bool keeps_idle;                           /* by options, no graph leaves out idle processes */
    event_id idle_event;                       /* of which graphs leave them out (output/idle.c) */
    const struct selection_options *selection; /* NULL: none */
    const struct comparison *comparison;       /* NULL: none */
    const struct prof_options *prof;           /* as in output_settings */
    struct output_piece *piece;                /* as in output_request */
};

/* Count a row that has values. True if it is to be written. */
bool output_source_takes_row(const struct output_source *source);

/* True if output_settings.event selects the event. Writers get no samples of other events. */
bool output_source_selects(const struct output_source *source, event_id event);

/* True if the event is selected, also by the weight (the time of event cpu or wall). */
bool output_source_shows(const struct output_source *source, event_id event);

/* The total of the weight of the first such event that has one, as text for people; "" if none has,
 * or if the weight is no value of events. */
struct number_text output_source_total(const struct output_source *source);

/* Return the side of a sample in a comparison, 0 or 1; 0 without a comparison. */
int output_source_side(const struct output_source *source, const struct sample *sample);

/* The selected part of the recording, in ns since its start. `to` is at least `from`. */
struct output_range {
    uint64_t from, to;
};
struct output_range output_source_range(const struct output_source *source,
                                        const struct recording_totals *totals);

/* Return the duration of the selected part, in seconds, without the gaps in which nothing was
 * recorded; and that of the gaps. The recording must be read to its end. */
double output_source_seconds(const struct output_source *source,
                             const struct recording_totals *totals);
double output_source_gap_seconds(const struct output_source *source,
                                 const struct recording_totals *totals);

/* The same, of the part in which an event was recorded. It is shorter if the event was added or
 * removed meanwhile. */
double output_source_event_seconds(const struct output_source *source, event_id event,
                                   const struct recording_totals *totals);
/* True if it was recorded for a part of the time only. */
bool output_source_is_partial(const struct output_source *source, event_id event);

/* Return the start of the selected part, in ns since 1970. Pieces have times of their own, some ns
 * apart: of profiles with the same labels and time a service may keep one. */
uint64_t output_source_start(const struct output_source *source);

struct output_format {
    const char *name;        /* for --format: "perf" */
    const char *suffixes[3]; /* ".perf", ".perf.gz", NULL */
    /* A file holds samples of one event: several events are written to a file each. */
    bool one_event;
    /* With one_event: gets all samples with a peer, whatever their weight; else it gets the samples
     * with a weight other than 0. */
    bool of_peers;
    /* Gets also the samples that graphs leave out (output/idle.c), to list them or to leave
     * them out itself. */
    bool lists_idle;
    /* Gets samples with the change of the selected metric, as formats of one event do. */
    bool wants_changes;
    /* The format that shows comparisons when this one is requested; NULL: none. */
    const struct output_format *comparing;
    /* Begin to write to `file`. Returns the writer's state, or NULL with error. */
    void *(*begin)(FILE *file, const struct output_source *source, struct error *error);
    int (*sample)(void *state, const struct sample *sample, struct error *error);
    /* Write the rest and free the state. `totals` has the losses; it is NULL for an aborted output,
     * which writes nothing. begin() may be the only call before. Does not close the file. */
    int (*finish)(void *state, const struct recording_totals *totals, struct error *error);
};

/* Return the format with the longest suffix that a file name ends in, or NULL. */
const struct output_format *output_format_of(const char *path);
const struct output_format *output_format_named(const char *name);
/* Return the names of all formats for messages: "perf, folded, svg, bfr". The text is static. */
const char *output_format_names(void);
/* ".perf, .folded, .svg": the first suffix of each format that has one, in the same way. */
const char *output_format_suffixes(void);

/* Where to write: to `file` if it is not NULL, and leave it open; else to `path` ("-" is standard
 * output). If `format` is NULL, the suffix of `path` selects the format. */
struct output_request {
    const char *path;
    const struct output_format *format;
    FILE *file;
    bool optional; /* not requested by the user: if empty, a warning, no error */
    /* For a format of one event. 0: those that the settings select. */
    event_id event;
    target_id target;           /* of this VM; 0: of all */
    bool needs_sample;          /* not written to say that all processes of event wall are idle */
    struct output_piece *piece; /* NULL: all rows */
};

/* Check requests before hours of recording, as far as possible without writing: formats,
 * directories, no path twice. `events` is the number of events of the recording; `peers` is true if
 * samples of one of them can have a peer. */
int output_check(const struct output_request *requests, size_t count, uint32_t events, bool peers,
                 struct error *error);

/* A request of which nothing was written, because no sample counts for it. */
struct output_empty {
    const struct output_request *request;
    struct number_text total; /* of hits that count, of which no stack was taken; "": none */
};

struct output_result {
    struct error given; /* of a request with a file, which the others outlive; code 0: none */
    struct recording_totals totals;
    char **paths; /* of the written files */
    size_t path_count;
    struct output_empty *empty;
    size_t empty_count;
    char *unmatched; /* what suggestion_find_names() says; "" if all names were found */
};
void output_result_free(struct output_result *result);

/* Write a recording to each of `requests` in one pass. A file is written under a temporary name in
 * the same directory, and renamed when all files are complete. So no partial file is left behind,
 * and an existing file stays if writing fails. Names that end in `.gz` are compressed.
 *
 * If the recording has several events and none is selected, a format that holds one event writes a
 * file for each event with samples: "x.perf" becomes "x.cpu.perf", "x.gc.perf"...
 *
 * Fails with ERROR_NO_SAMPLES if no sample is selected. A recording without any sample of the
 * selected event is no error if hits of the event were counted, or if no event is selected and
 * metrics of VMs were recorded.
 *
 * On success *ret_result is set; free it with output_result_free(). */
int output_write(struct recording *recording, const struct output_settings *settings,
                 const struct output_request *requests, size_t count,
                 struct output_result *ret_result, struct error *error);

/* ---- idle.c ---- */

/* Idle processes in event wall: they would hide all others, so graphs and tables leave them out and
 * report the share of the time that they leave out. Lists of samples keep them
 * (output_format.lists_idle). */

/* True if graphs and tables leave the sample out. */
bool idle_is_left_out(const struct output_source *source, const struct sample *sample);

/* Count a selected sample. */
void idle_count(const struct output_source *source, const struct sample *sample,
                struct recording_idle *idle);

/* Append what an output leaves out: "98.9 % of the time is idle: left out, --idle shows it". Append
 * nothing if it leaves nothing out. */
void idle_text(const struct output_source *source, const struct recording_totals *totals,
               struct buffer *text);

/* ---- output_check.c ---- */

/* Checks requests for outputs before outputs are written. Errors name the path. */

/* The format that a request names, else the format of its path's suffix. NULL: neither. */
const struct output_format *output_check_format(const struct output_request *request);

/* Check that a request can write a file for each event: standard output, devices, pipes and open
 * files hold only one. */
int output_check_split(const struct output_request *request, struct error *error);

/* Set the error of a format of peers for a recording that has none. Returns -1. */
int output_check_peers(const char *path, enum error_code code, struct error *error);

/* True if `path` is one of the files that the requests write, of one event or of all. */
bool output_check_path(const struct output_request *requests, size_t count, const char *path);
