// SPDX-License-Identifier: Apache-2.0
/* What the files of this folder share: the parts of a page. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

#include "output/output.h"
#include "profile/profile.h"
#include "util/buffer.h"
#include "util/error.h"
#include "util/intern.h"

/* The files of web/ that make up the page, embedded in the program (page_files.S). */

struct html_file {
    const char *path; /* "web/analysis/tree.js" */
    const char *start, *end;
};

/* The last entry has no path. */
extern const struct html_file html_files[];

/* ---- columns.c ---- */

/*
 * Columns of numbers and texts. Each column is compressed on its own while it grows: numbers of one
 * sort compress better without others between them, and memory holds compressed data.
 */

struct html_column {
    char name[32];
    struct buffer rest;   /* not compressed yet */
    struct buffer packed; /* zlib (RFC 1950), which browsers call "deflate" */
    uint64_t size;        /* of the data in `packed`, uncompressed */
    z_stream stream;
    struct html_column *higher; /* gets a number's bytes after the first; NULL: they stay here */
};

/* All zero is empty. */
struct html_columns {
    struct html_column **list;
    size_t count;
};

/* Add a column; `name` is a format of printf(). html_columns_free() frees it. */
struct html_column *html_columns_add(struct html_columns *columns, const char *name, ...)
    __attribute__((format(printf, 2, 3)));
/* Split a column of large numbers that rarely repeat; call before its first number. The second byte
 * of each number goes to a new column NAME+, later bytes to NAME++. High bytes have a pattern that
 * low ones do not have. */
void html_columns_split(struct html_columns *columns, struct html_column *column);
void html_columns_free(struct html_columns *columns);

/* Append a number as a varint, or a signed number as a zigzag (util/buffer.h). */
void html_column_number(struct html_column *column, uint64_t number);
void html_column_signed(struct html_column *column, int64_t number);
/* Append a text and a NUL. */
void html_column_text(struct html_column *column, const char *text);

/* Compress the rest. Nothing may be appended after that. */
void html_column_close(struct html_column *column);

/* Write the compressed bytes of all columns, one after the other, as text (util/encode.h). All
 * columns must be closed. */
void html_columns_write(const struct html_columns *columns, FILE *file);

/* ---- sample_rows.c ---- */

/*
 * Samples as bytes, added in order of time and read process by process: then neighbours in a column
 * are similar and compress well. A row holds only the fields that a page stores process by process:
 * stack, thread, detail, status, activity, flags, trace and metrics, but not time, event or values.
 */

struct html_row {
    process_id process;
    size_t start; /* offset in html_rows.bytes */
};

/* All zero is empty. */
struct html_rows {
    struct buffer bytes;
    struct html_row *list; /* in order of time */
    uint32_t count;
    size_t room;
};

void html_rows_add(struct html_rows *rows, const struct sample *sample);
void html_rows_free(struct html_rows *rows);

/* Pass all rows to `each`, process by process, and in order of time within a process. `processes`
 * is the highest process id. */
void html_rows_each(const struct html_rows *rows, uint32_t processes,
                    void (*each)(void *context, const struct sample *sample), void *context);

/* ---- traces.c ---- */

/*
 * The traces of a page's samples. A page lists those with the most samples: a node that begins
 * thousands of traces a second would fill the page with traces of one sample each.
 */

enum { HTML_TRACES_MAX = 10000 };

struct html_trace_samples {
    uint32_t id, count; /* id in html_traces.keys; number of samples */
};

struct html_traces {
    struct intern keys;
    struct html_trace_samples *samples; /* by id - 1, sorted by html_traces_finish() */
    size_t room;
    uint32_t *places; /* by id, the place in the list from 1 on; `listed` + 1: not in the list */
    uint32_t listed;
};

void html_traces_init(struct html_traces *traces);
void html_traces_free(struct html_traces *traces);

/* Count a sample of the span's trace. */
void html_traces_add(struct html_traces *traces, const struct trace_span *span);

/* Call after the last sample: choose the traces to list, and add their column if there are any. */
void html_traces_finish(struct html_traces *traces, struct html_columns *columns);

/* Return the place of the span's trace, which html_traces_add() has counted. */
uint32_t html_traces_place(const struct html_traces *traces, const struct trace_span *span);

/* ---- samples.c ---- */

/* The samples of a page as columns; html.c describes them. */

enum { HTML_EVENTS_MAX = UINT8_MAX }; /* the page holds the event of a sample in a byte */

struct html_samples {
    const struct profile *profile;
    struct html_columns *columns;
    uint64_t start;  /* ns, of the recording */
    uint8_t *events; /* numbers of events in the page, by event id */
    struct html_column *time, *process, *event, *part, *window, *values[EVENT_VALUES];
    struct html_rows rows;
    struct html_traces traces;
    /* The next sample is stored relative to these. */
    uint64_t last_ms;
    process_id last_process;
    uint64_t (*last_values)[EVENT_VALUES]; /* by event id - 1 */
    uint32_t last_part;                    /* index of the last sample in column "part" */
    uint64_t last_window;
};

/* All events of the profile must be defined, and at most HTML_EVENTS_MAX selected. */
void html_samples_init(struct html_samples *samples, const struct output_source *source,
                       struct html_columns *columns);
void html_samples_free(struct html_samples *samples); /* does not free the columns */

/* Add a sample, in order of time. Returns -1 with error if the sample is 2^32 ms or more after the
 * start, or the page has 2^32 - 1 samples already. */
int html_samples_add(struct html_samples *samples, const struct sample *sample,
                     struct error *error);

/* Call after the last sample: add the columns that are stored process by process, and close all
 * columns. */
void html_samples_finish(struct html_samples *samples);

/* ---- tables.c ---- */

/* The tables of a recording as columns of a page; html.c describes them. */

/* Add the columns of all tables, and close them. */
void html_tables_add(const struct profile *profile, struct html_columns *columns);

/* Add a column for the recorder itself and for each selected event whose spans are known, and one
 * for each that was recorded for a part of the time. `events`: numbers of events in the page, by
 * id. */
void html_tables_add_spans(struct html_columns *columns, const struct output_source *source,
                           const uint8_t *events);

/* Add the column, unless no metrics of VMs were recorded. */
void html_tables_add_node_metrics(struct html_columns *columns, const struct output_source *source);

/* ---- header.c ---- */

/* Write the header of a page as JSON: all of its data but the columns. html.c describes it. */
void html_header_write(FILE *file, const struct output_source *source,
                       const struct recording_totals *totals, const struct html_samples *samples,
                       const struct html_columns *columns);
