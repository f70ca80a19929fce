// SPDX-License-Identifier: Apache-2.0
#include "output/html/html_internal.h"

#include <stdlib.h>

#include "profile/events.h"
#include "profile/row_interval.h"
#include "util/alloc.h"

/* ---- in order of time ---- */

/* Number the selected events from 1 on. */
static uint8_t *number_events(const struct output_source *source)
{
    uint32_t count = profile_counts(source->profile).events;
    uint8_t *numbers = xcalloc(count + 1, sizeof(*numbers)), last = 0;

    for (event_id id = 1; id <= count; id++)
        if (output_source_selects(source, id))
            numbers[id] = ++last;
    return numbers;
}

void html_samples_init(struct html_samples *samples, const struct output_source *source,
                       struct html_columns *columns)
{
    const struct profile *profile = source->profile;

    *samples = (struct html_samples){
        .profile = profile,
        .columns = columns,
        .start = source->header->start_monotonic,
        .events = number_events(source),
        .time = html_columns_add(columns, "time"),
        .process = html_columns_add(columns, "process"),
        .event = html_columns_add(columns, "event"),
        .part = html_columns_add(columns, "part"),
        .window = html_columns_add(columns, "window"),
        .last_window = row_interval_window_at(source->header->start_monotonic),
        .last_values = xcalloc(profile_counts(profile).events, sizeof(*samples->last_values)),
    };
    for (int i = 0; i < EVENT_VALUES; i++)
        samples->values[i] = html_columns_add(columns, "value %d", i);
    html_traces_init(&samples->traces);
}

void html_samples_free(struct html_samples *samples)
{
    html_rows_free(&samples->rows);
    html_traces_free(&samples->traces);
    free(samples->last_values);
    free(samples->events);
}

/* Predict a value: the value of the event's previous sample. A collection has reclaimed the
 * difference of the heap before and after it. */
static uint64_t likely_value(const struct html_samples *samples, const struct sample *sample,
                             uint32_t value)
{
    if (value == GC_RECLAIMED && event_is_gc(samples->profile, sample->event))
        return sample->values[GC_HEAP_BEFORE] - sample->values[GC_HEAP_AFTER];
    return samples->last_values[sample->event - 1][value];
}

static void put_values(struct html_samples *samples, const struct sample *sample)
{
    const struct event_entry *event = profile_get_event(samples->profile, sample->event);

    for (uint32_t i = 0; i < event->value_count; i++) {
        html_column_signed(samples->values[i],
                           (int64_t)(sample->values[i] - likely_value(samples, sample, i)));
        samples->last_values[sample->event - 1][i] = sample->values[i];
    }
}

/* Note a sample that is of the same hit as the event's sample before it. */
static void put_part(struct html_samples *samples, const struct sample *sample)
{
    uint32_t index = samples->rows.count;

    if (!sample->is_part)
        return;
    html_column_number(samples->part, index - samples->last_part);
    samples->last_part = index;
}

/* Samples from before the start, which are shown at the start, are in its window. */
static void put_window(struct html_samples *samples, const struct sample *sample)
{
    uint64_t window = row_interval_window_at(sample->time);

    if (window < samples->last_window)
        window = samples->last_window;
    html_column_number(samples->window, window - samples->last_window);
    samples->last_window = window;
}

int html_samples_add(struct html_samples *samples, const struct sample *sample, struct error *error)
{
    uint64_t ns = sample->time > samples->start ? sample->time - samples->start : 0;
    uint64_t ms = ns / 1000000;

    if (ms > UINT32_MAX)
        return error_set(error, ERROR_FAILED,
                         "the recording is longer than the 49 days that a page can show: choose a "
                         "time with --from and --to");
    if (samples->rows.count == UINT32_MAX)
        return error_set(error, ERROR_FAILED,
                         "the recording has more samples than a page can show");
    html_column_number(samples->time, ms - samples->last_ms);
    html_column_signed(samples->process, (int64_t)sample->process - samples->last_process);
    html_column_number(samples->event, samples->events[sample->event]);
    put_values(samples, sample);
    put_part(samples, sample);
    put_window(samples, sample);
    if (sample->trace_span)
        html_traces_add(&samples->traces,
                        profile_get_trace_span(samples->profile, sample->trace_span));
    html_rows_add(&samples->rows, sample);
    samples->last_ms = ms;
    samples->last_process = sample->process;
    return 0;
}

/* ---- by process ---- */

struct by_process {
    const struct profile *profile;
    const struct html_traces *traces;
    struct html_column *stack, *leaf, *thread, *detail, *status, *activity, *complete, *named,
        *exact;
    struct html_column *trace; /* NULL: no sample has one */
    struct html_column *known, *metrics[METRICS];
    /* The next sample is stored relative to these. */
    process_id process;
    struct metrics newest;  /* of this process */
    uint64_t *stack_sizes;  /* METRIC_STACK by stack id, newest */
    uint32_t *leaf_numbers; /* by stack id, from 1 in the order of their first samples */
    uint32_t leaf_count;
    stack_id last_leaf;
};

static void add_columns(struct by_process *by, struct html_columns *columns)
{
    by->stack = html_columns_add(columns, "stack");
    by->leaf = html_columns_add(columns, "leaf");
    by->thread = html_columns_add(columns, "thread");
    by->detail = html_columns_add(columns, "detail");
    by->status = html_columns_add(columns, "status");
    by->activity = html_columns_add(columns, "activity");
    by->complete = html_columns_add(columns, "complete");
    by->named = html_columns_add(columns, "named");
    by->exact = html_columns_add(columns, "exact");
    if (by->traces->listed)
        by->trace = html_columns_add(columns, "trace");
    by->known = html_columns_add(columns, "known");
    for (int i = 0; i < METRICS; i++)
        by->metrics[i] = html_columns_add(columns, "metric %d", i);
    html_columns_split(columns, by->stack);
    html_columns_split(columns, by->metrics[METRIC_REDUCTIONS]);
    html_columns_split(columns, by->metrics[METRIC_MINOR_GCS]);
}

static void put_stack(struct by_process *by, stack_id stack)
{
    uint32_t *number = &by->leaf_numbers[stack];

    html_column_number(by->stack, *number);
    if (*number)
        return;
    *number = ++by->leaf_count;
    html_column_signed(by->leaf, (int64_t)stack - by->last_leaf);
    by->last_leaf = stack;
}

static void put_trace(struct by_process *by, trace_span_id span)
{
    html_column_number(
        by->trace,
        span ? html_traces_place(by->traces, profile_get_trace_span(by->profile, span)) : 0);
}

static void put_metric(struct by_process *by, const struct sample *sample, enum metric metric)
{
    const uint64_t *values = sample->metrics.values;
    struct html_column *column = by->metrics[metric];
    uint64_t *stack_size = &by->stack_sizes[sample->stack];

    switch (metric) {
    case METRIC_HEAP: /* the sum of its parts, except during a collection */
        html_column_signed(column, (int64_t)(values[METRIC_HEAP] - values[METRIC_YOUNG] -
                                             values[METRIC_OLD] - values[METRIC_MBUF]));
        break;
    case METRIC_STACK: /* equal stacks often have the same size */
        html_column_signed(column, (int64_t)(values[METRIC_STACK] - *stack_size));
        *stack_size = values[METRIC_STACK];
        break;
    case METRIC_YOUNG: /* has few different values, which recur */
    case METRIC_MBUF:
        html_column_number(column, values[metric]);
        break;
    default:
        html_column_signed(column, (int64_t)(values[metric] - by->newest.values[metric]));
        by->newest.values[metric] = values[metric];
    }
}

static void put_metrics(struct by_process *by, const struct sample *sample)
{
    const struct metrics *metrics = &sample->metrics;

    html_column_number(by->known, metrics->known ^ by->newest.known);
    by->newest.known = metrics->known;
    for (enum metric i = 0; i < METRICS; i++)
        if (metrics_know(metrics, i))
            put_metric(by, sample, i);
}

static void put_sample(void *context, const struct sample *sample)
{
    struct by_process *by = context;

    if (sample->process != by->process)
        by->newest = (struct metrics){0};
    by->process = sample->process;
    put_stack(by, sample->stack);
    html_column_number(by->thread, sample->thread);
    html_column_number(by->detail, sample->detail);
    html_column_number(by->status, sample->status);
    html_column_number(by->activity, sample->activity);
    html_column_number(by->complete, (sample->flags & SAMPLE_COMPLETE) != 0);
    html_column_number(by->named, (sample->flags & SAMPLE_NAMED) != 0);
    html_column_number(by->exact, (sample->flags & SAMPLE_EXACT) != 0);
    if (by->trace)
        put_trace(by, sample->trace_span);
    if (sample->process)
        put_metrics(by, sample);
}

void html_samples_finish(struct html_samples *samples)
{
    struct profile_counts counts = profile_counts(samples->profile);
    struct by_process by = {
        .profile = samples->profile,
        .traces = &samples->traces,
        .stack_sizes = xcalloc(counts.stacks + 1, sizeof(*by.stack_sizes)),
        .leaf_numbers = xcalloc(counts.stacks + 1, sizeof(*by.leaf_numbers)),
    };

    html_traces_finish(&samples->traces, samples->columns);
    add_columns(&by, samples->columns);
    html_rows_each(&samples->rows, counts.processes, put_sample, &by);
    for (size_t i = 0; i < samples->columns->count; i++)
        html_column_close(samples->columns->list[i]);
    free(by.stack_sizes);
    free(by.leaf_numbers);
}
