// SPDX-License-Identifier: Apache-2.0
/* The samples of a page as columns; html.c describes them. */
#pragma once

#include "output/html/columns.h"
#include "output/html/rows.h"
#include "util/error.h"

struct html_samples {
    const struct profile *profile;
    struct html_columns *columns;
    uint64_t start; /* ns, of the recording */
    struct html_column *time, *process, *event, *values[EVENT_VALUES];
    struct html_rows rows;
    /* The next sample is stored relative to these. */
    uint64_t last_ms;
    process_id last_process;
    uint64_t (*last_values)[EVENT_VALUES]; /* by event id - 1 */
};

/* `start`: of the recording, ns. All events of the profile must be defined. */
void html_samples_init(struct html_samples *samples, const struct profile *profile, uint64_t start,
                       struct html_columns *columns);
void html_samples_free(struct html_samples *samples); /* does not free the columns */

/* Add a sample, in order of time. Returns -1 with error if the sample is 2^32 ms or more after the
 * start, or the page has 2^32 - 1 samples already. */
int html_samples_add(struct html_samples *samples, const struct sample *sample,
                     struct error *error);

/* Call after the last sample: add the columns that are stored process by process, and close all
 * columns that there are. */
void html_samples_finish(struct html_samples *samples);
