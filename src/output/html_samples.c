// SPDX-License-Identifier: Apache-2.0
#include "output/html_samples.h"

#include <stdlib.h>

#include "util/alloc.h"

static const char *const names[HTML_VALUE] = {
    [HTML_TIME] = "time",       [HTML_EVENT] = "event",       [HTML_STACK] = "stack",
    [HTML_PROCESS] = "process", [HTML_THREAD] = "thread",     [HTML_DETAIL] = "detail",
    [HTML_STATUS] = "status",   [HTML_ACTIVITY] = "activity", [HTML_COMPLETE] = "complete",
    [HTML_KNOWN] = "known",
};

void html_samples_init(struct html_samples *samples, const struct profile *profile, uint64_t start,
                       struct html_columns *columns)
{
    *samples = (struct html_samples){
        .profile = profile,
        .start = start,
        .last_values = xcalloc(profile_counts(profile).events, sizeof(*samples->last_values)),
    };
    for (int i = 0; i < HTML_VALUE; i++)
        samples->columns[i] = html_columns_add(columns, "%s", names[i]);
    for (int i = 0; i < EVENT_VALUES; i++)
        samples->columns[HTML_VALUE + i] = html_columns_add(columns, "value %d", i);
    for (int i = 0; i < METRICS; i++)
        samples->columns[HTML_METRIC + i] = html_columns_add(columns, "metric %d", i);
}

void html_samples_free(struct html_samples *samples)
{
    metric_bases_clear(&samples->metrics);
    free(samples->last_values);
}

static void put_values(struct html_samples *samples, const struct sample *sample)
{
    const struct event_entry *event = profile_get_event(samples->profile, sample->event);
    uint64_t *last = samples->last_values[sample->event - 1];

    for (uint32_t i = 0; i < event->value_count; i++) {
        html_column_signed(samples->columns[HTML_VALUE + i],
                           (int64_t)(sample->values[i] - last[i]));
        last[i] = sample->values[i];
    }
}

static void put_metrics(struct html_samples *samples, const struct sample *sample)
{
    struct metrics *base = metric_bases_get(&samples->metrics, sample->process);
    const struct metrics *metrics = &sample->metrics;

    html_column_number(samples->columns[HTML_KNOWN], metrics->known ^ base->known);
    for (int i = 0; i < METRICS; i++)
        if (metrics_know(metrics, (enum metric)i))
            html_column_signed(samples->columns[HTML_METRIC + i],
                               (int64_t)(metrics->values[i] - base->values[i]));
    metric_base_set(base, metrics);
}

int html_samples_add(struct html_samples *samples, const struct sample *sample, struct error *error)
{
    uint64_t ns = sample->time > samples->start ? sample->time - samples->start : 0;
    uint64_t ms = ns / 1000000;
    const struct sample *last = &samples->last;
    struct html_column **columns = samples->columns;

    if (ms > UINT32_MAX)
        return error_set(error, ERROR_FAILED,
                         "the recording is longer than the 49 days that a page can show; choose a "
                         "part of it with --from and --to");
    html_column_number(columns[HTML_TIME], ms - samples->last_ms);
    html_column_number(columns[HTML_EVENT], sample->event);
    html_column_signed(columns[HTML_STACK], (int64_t)sample->stack - last->stack);
    html_column_signed(columns[HTML_PROCESS], (int64_t)sample->process - last->process);
    html_column_number(columns[HTML_THREAD], sample->thread);
    html_column_number(columns[HTML_DETAIL], sample->detail);
    html_column_number(columns[HTML_STATUS], sample->status);
    html_column_number(columns[HTML_ACTIVITY], sample->activity);
    html_column_number(columns[HTML_COMPLETE], (sample->flags & SAMPLE_COMPLETE) != 0);
    put_values(samples, sample);
    if (sample->process)
        put_metrics(samples, sample);
    samples->last = *sample;
    samples->last_ms = ms;
    samples->count++;
    return 0;
}

void html_samples_close(struct html_samples *samples)
{
    for (int i = 0; i < HTML_SAMPLE_COLUMNS; i++)
        html_column_close(samples->columns[i]);
}
