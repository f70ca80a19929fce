// SPDX-License-Identifier: Apache-2.0
#include "output/html/html_internal.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/cursor.h"

static void put_metrics(struct buffer *bytes, const struct metrics *metrics)
{
    buffer_varint(bytes, metrics->known);
    for (int i = 0; i < METRICS; i++)
        if (metrics_know(metrics, (enum metric)i))
            buffer_varint(bytes, metrics->values[i]);
}

static void put_row(struct buffer *bytes, const struct sample *sample)
{
    buffer_varint(bytes, sample->stack);
    buffer_varint(bytes, sample->thread);
    buffer_varint(bytes, sample->detail);
    buffer_varint(bytes, sample->status);
    buffer_varint(bytes, sample->activity);
    buffer_varint(bytes, sample->flags);
    buffer_varint(bytes, sample->trace_span);
    if (sample->process)
        put_metrics(bytes, &sample->metrics);
}

void html_rows_add(struct html_rows *rows, const struct sample *sample)
{
    rows->list = xgrow(rows->list, &rows->room, rows->count, sizeof(*rows->list));
    rows->list[rows->count++] = (struct html_row){sample->process, rows->bytes.size};
    put_row(&rows->bytes, sample);
}

void html_rows_free(struct html_rows *rows)
{
    buffer_free(&rows->bytes);
    free(rows->list);
    *rows = (struct html_rows){0};
}

static uint64_t next(struct cursor *cursor)
{
    return cursor_varint(cursor, UINT64_MAX, "");
}

static void get_metrics(struct cursor *cursor, struct metrics *metrics)
{
    metrics->known = (uint32_t)next(cursor);
    for (int i = 0; i < METRICS; i++)
        if (metrics_know(metrics, (enum metric)i))
            metrics->values[i] = next(cursor);
}

static struct sample get_row(const struct html_rows *rows, uint32_t index)
{
    const struct html_row *row = &rows->list[index];
    struct cursor cursor =
        cursor_over(rows->bytes.data + row->start, rows->bytes.size - row->start);
    struct sample sample = {.process = row->process};

    sample.stack = (stack_id)next(&cursor);
    sample.thread = (thread_id)next(&cursor);
    sample.detail = (string_id)next(&cursor);
    sample.status = (uint8_t)next(&cursor);
    sample.activity = (uint8_t)next(&cursor);
    sample.flags = (uint8_t)next(&cursor);
    sample.trace_span = (trace_span_id)next(&cursor);
    if (sample.process)
        get_metrics(&cursor, &sample.metrics);
    return sample;
}

/* Return the indexes of rows, by process and then in order of time. To be freed. */
static uint32_t *sorted(const struct html_rows *rows, uint32_t processes)
{
    uint32_t *at = xcalloc((size_t)processes + 2, sizeof(*at)); /* the next place of each process */
    uint32_t *order = xcalloc(rows->count, sizeof(*order));

    for (uint32_t i = 0; i < rows->count; i++)
        at[rows->list[i].process + 1]++;
    for (uint32_t process = 1; process <= processes; process++)
        at[process] += at[process - 1];
    for (uint32_t i = 0; i < rows->count; i++)
        order[at[rows->list[i].process]++] = i;
    free(at);
    return order;
}

void html_rows_each(const struct html_rows *rows, uint32_t processes,
                    void (*each)(void *context, const struct sample *sample), void *context)
{
    uint32_t *order = sorted(rows, processes);

    for (uint32_t i = 0; i < rows->count; i++) {
        struct sample sample = get_row(rows, order[i]);

        each(context, &sample);
    }
    free(order);
}
