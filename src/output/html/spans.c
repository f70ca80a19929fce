// SPDX-License-Identifier: Apache-2.0
#include "output/html/spans.h"

static uint64_t microseconds(uint64_t time, uint64_t start)
{
    return time > start ? (time - start) / 1000 : 0;
}

static void add_column(struct html_columns *columns, const struct spans *spans, uint64_t start,
                       unsigned number)
{
    struct html_column *column = html_columns_add(columns, "spans %u", number);
    uint64_t last = 0;

    for (size_t i = 0; i < spans->count; i++) {
        uint64_t from = microseconds(spans->list[i].start, start);
        uint64_t to = microseconds(spans->list[i].end, start);

        if (!to)
            continue; /* before the recording */
        html_column_number(column, from - last);
        html_column_number(column, to - from);
        last = to;
    }
    html_column_close(column);
}

void html_spans_add(struct html_columns *columns, const struct output_source *source,
                    const uint8_t *events)
{
    const struct event_spans *spans = recording_get_spans(source->recording);

    for (event_id id = 0; id < spans->count; id++) {
        const struct spans *of = event_spans_get(spans, id);

        if (of && (!id || events[id]))
            add_column(columns, of, source->header->start_monotonic, id ? events[id] : 0);
    }
}
