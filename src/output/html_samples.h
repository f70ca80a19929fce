// SPDX-License-Identifier: Apache-2.0
/* The samples of a page as columns; html.c describes them. */
#pragma once

#include "output/html_columns.h"
#include "profile/metric_bases.h"
#include "profile/profile.h"
#include "util/error.h"

enum html_sample_column {
    HTML_TIME,
    HTML_EVENT,
    HTML_STACK,
    HTML_PROCESS,
    HTML_THREAD,
    HTML_DETAIL,
    HTML_STATUS,
    HTML_ACTIVITY,
    HTML_COMPLETE,
    HTML_KNOWN,
    HTML_VALUE,
    HTML_METRIC = HTML_VALUE + EVENT_VALUES,
    HTML_SAMPLE_COLUMNS = HTML_METRIC + METRICS,
};

struct html_samples {
    const struct profile *profile;
    uint64_t start; /* ns, of the recording */
    uint64_t count;
    struct html_column *columns[HTML_SAMPLE_COLUMNS];
    /* What the next sample is told relative to. */
    struct sample last;
    uint64_t last_ms;
    uint64_t (*last_values)[EVENT_VALUES]; /* by event id - 1 */
    struct metric_bases metrics;
};

/* All events are defined. */
void html_samples_init(struct html_samples *samples, const struct profile *profile, uint64_t start,
                       struct html_columns *columns);
void html_samples_free(struct html_samples *samples); /* its columns are not its own */

/* In order of time; -1 for one that is too far from the start. */
int html_samples_add(struct html_samples *samples, const struct sample *sample,
                     struct error *error);
void html_samples_close(struct html_samples *samples);
