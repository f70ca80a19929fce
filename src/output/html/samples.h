// SPDX-License-Identifier: Apache-2.0
/* The samples of a page as columns; html.c describes them. */
#pragma once

#include "output/html/columns.h"
#include "output/html/sample_rows.h"
#include "output/output.h"
#include "util/error.h"

enum { HTML_EVENTS_MAX = UINT8_MAX }; /* the page holds the event of a sample in a byte */

struct html_samples {
    const struct profile *profile;
    struct html_columns *columns;
    uint64_t start;  /* ns, of the recording */
    uint8_t *events; /* numbers of events in the page, by event id */
    struct html_column *time, *process, *event, *part, *values[EVENT_VALUES];
    struct html_rows rows;
    /* The next sample is stored relative to these. */
    uint64_t last_ms;
    process_id last_process;
    uint64_t (*last_values)[EVENT_VALUES]; /* by event id - 1 */
    struct sample last_sched;              /* the last sample of event sched */
    uint32_t last_part;                    /* index of the last sample in column "part" */
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
 * columns that there are. */
void html_samples_finish(struct html_samples *samples);
