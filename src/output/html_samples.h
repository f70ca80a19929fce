// SPDX-License-Identifier: Apache-2.0
/* The samples of a page as columns; html.c describes them. */
#pragma once

#include "output/html_columns.h"
#include "output/html_rows.h"
#include "util/error.h"

struct html_samples {
    const struct profile *profile;
    struct html_columns *columns;
    uint64_t start; /* ns, of the recording */
    struct html_column *time, *process, *event, *values[EVENT_VALUES];
    struct html_rows rows;
    /* What the next one is told relative to. */
    uint64_t last_ms;
    process_id last_process;
    uint64_t (*last_values)[EVENT_VALUES]; /* by event id - 1 */
};

/* All events are defined. */
void html_samples_init(struct html_samples *samples, const struct profile *profile, uint64_t start,
                       struct html_columns *columns);
void html_samples_free(struct html_samples *samples); /* its columns are not its own */

/* In order of time; -1 for one that is too far from the start. */
int html_samples_add(struct html_samples *samples, const struct sample *sample,
                     struct error *error);

/* After the last one: all columns of samples, closed. */
void html_samples_finish(struct html_samples *samples);
