// SPDX-License-Identifier: Apache-2.0
#include "output/html/node_metrics.h"

static uint64_t milliseconds(uint64_t time, uint64_t start)
{
    return time > start ? (time - start) / 1000000 : 0;
}

static void add_series(struct html_column *column, const struct node_series *series, uint64_t start)
{
    uint64_t last_ms = 0, last = 0;

    html_column_number(column, series->key.target);
    html_column_number(column, series->key.metric);
    html_column_number(column, series->key.of);
    html_column_number(column, series->key.id);
    html_column_number(column, series->owner);
    html_column_number(column, series->count);
    for (size_t i = 0; i < series->count; i++) {
        uint64_t ms = milliseconds(series->list[i].time, start);

        html_column_number(column, ms - last_ms);
        html_column_signed(column, (int64_t)(series->list[i].value - last));
        last_ms = ms;
        last = series->list[i].value;
    }
}

void html_node_metrics_add(struct html_columns *columns, const struct output_source *source)
{
    const struct node_metrics *metrics = recording_get_node_metrics(source->recording);
    struct html_column *column;

    if (!metrics->readings)
        return;
    column = html_columns_add(columns, "node metrics");
    for (size_t i = 0; i < metrics->count; i++)
        if (metrics->of[i].count)
            add_series(column, &metrics->of[i], source->header->start_monotonic);
    html_column_close(column);
}
