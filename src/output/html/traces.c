// SPDX-License-Identifier: Apache-2.0
#include "output/html/html_internal.h"

#include <stdlib.h>

#include "profile/trace_text.h"
#include "util/alloc.h"

struct html_trace_key {
    uint64_t high, low;
};

static struct html_trace_key key_of(const struct trace_span *span)
{
    return (struct html_trace_key){span->trace_high, span->trace_low};
}

void html_traces_init(struct html_traces *traces)
{
    *traces = (struct html_traces){0};
    intern_init(&traces->keys, sizeof(struct html_trace_key), sizeof(struct html_trace_key));
}

void html_traces_free(struct html_traces *traces)
{
    intern_free(&traces->keys);
    free(traces->samples);
    free(traces->places);
}

void html_traces_add(struct html_traces *traces, const struct trace_span *span)
{
    struct html_trace_key key = key_of(span);
    uint32_t known = traces->keys.count, id = intern_add(&traces->keys, &key);

    if (id > known) {
        traces->samples = xgrow(traces->samples, &traces->room, known, sizeof(*traces->samples));
        traces->samples[id - 1] = (struct html_trace_samples){.id = id};
    }
    traces->samples[id - 1].count++;
}

/* Most samples first, else in the order of their first samples. */
static int compare(const void *left, const void *right)
{
    const struct html_trace_samples *a = left, *b = right;

    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->id < b->id ? -1 : 1;
}

static void put_id(struct html_column *column, const struct html_trace_key *key)
{
    struct trace_span span = {.trace_high = key->high, .trace_low = key->low};
    char text[TRACE_ID_TEXT];

    trace_id_text(&span, text);
    html_column_text(column, text);
}

void html_traces_finish(struct html_traces *traces, struct html_columns *columns)
{
    uint32_t count = traces->keys.count;
    struct html_column *column;

    if (!count)
        return;
    column = html_columns_add(columns, "traces");
    traces->listed = count < HTML_TRACES_MAX ? count : HTML_TRACES_MAX;
    traces->places = xcalloc((size_t)count + 1, sizeof(*traces->places));
    qsort(traces->samples, count, sizeof(*traces->samples), compare);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = traces->samples[i].id;

        traces->places[id] = i < traces->listed ? i + 1 : traces->listed + 1;
        if (i < traces->listed)
            put_id(column, intern_get(&traces->keys, id));
    }
}

uint32_t html_traces_place(const struct html_traces *traces, const struct trace_span *span)
{
    struct html_trace_key key = key_of(span);

    return traces->places[intern_find(&traces->keys, &key)];
}
