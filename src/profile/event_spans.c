// SPDX-License-Identifier: Apache-2.0
#include "profile/event_spans.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/number.h"

enum { LEAST_SHARE = 16 };

void event_spans_free(struct event_spans *spans)
{
    for (size_t i = 0; i < spans->count; i++)
        free(spans->of[i].list);
    free(spans->of);
    *spans = (struct event_spans){0};
}

void event_spans_clear(struct event_spans *spans)
{
    for (size_t i = 0; i < spans->count; i++)
        spans->of[i].count = 0;
}

static struct spans *place(struct event_spans *spans, event_id event)
{
    spans->of = xgrow(spans->of, &spans->room, event, sizeof(*spans->of));
    if (spans->count <= event)
        spans->count = event + 1;
    spans->of[event].known = true;
    return &spans->of[event];
}

void event_spans_place(struct event_spans *spans, event_id event)
{
    place(spans, event);
}

void event_spans_drop(struct event_spans *spans, event_id event)
{
    free(spans->of[event].list);
    spans->of[event] = (struct spans){0};
}

const struct spans *event_spans_get(const struct event_spans *spans, event_id event)
{
    return event < spans->count && spans->of[event].known ? &spans->of[event] : NULL;
}

uint64_t event_spans_gaps(const struct event_spans *spans, event_id event, uint64_t from,
                          uint64_t to)
{
    const struct spans *of = event_spans_get(spans, event);
    uint64_t sum = 0;

    for (size_t i = 1; of && i < of->count; i++) {
        uint64_t start = of->list[i - 1].end, end = of->list[i].start;

        start = start > from ? start : from;
        end = end < to ? end : to;
        sum += end > start ? end - start : 0;
    }
    return sum;
}

/* ---- order ---- */

static int by_start(const void *a, const void *b)
{
    const struct time_span *one = a, *other = b;

    return (one->start > other->start) - (one->start < other->start);
}

static void unite(struct spans *spans)
{
    size_t kept = 0;

    if (!spans->count)
        return;
    qsort(spans->list, spans->count, sizeof(*spans->list), by_start);
    for (size_t i = 1; i < spans->count; i++) {
        struct time_span *last = &spans->list[kept];
        const struct time_span *next = &spans->list[i];

        if (next->start > last->end)
            spans->list[++kept] = *next;
        else if (next->end > last->end)
            last->end = next->end;
    }
    spans->count = kept + 1;
}

static void make_coarser(struct spans *spans)
{
    size_t kept = 0;

    for (size_t i = 0; i < spans->count; i += 2) {
        struct time_span span = spans->list[i];

        if (i + 1 < spans->count)
            span.end += spans->list[i + 1].end - spans->list[i + 1].start;
        spans->list[kept++] = span;
    }
    spans->count = kept;
}

/* The number of spans that a list may have. */
static size_t limit(const struct event_spans *spans)
{
    size_t share = EVENT_SPANS_ALL / (spans->count ? spans->count : 1);

    if (share > EVENT_SPANS_MAX)
        return EVENT_SPANS_MAX;
    return share < LEAST_SHARE ? LEAST_SHARE : share;
}

static void settle(struct spans *spans, size_t most)
{
    unite(spans);
    while (spans->count > most)
        make_coarser(spans);
}

void event_spans_settle(struct event_spans *spans)
{
    for (size_t i = 0; i < spans->count; i++)
        settle(&spans->of[i], limit(spans));
}

void event_spans_add(struct event_spans *spans, event_id event, uint64_t start, uint64_t end)
{
    struct spans *of = place(spans, event);
    struct time_span *last = of->count ? &of->list[of->count - 1] : NULL;

    if (start >= end)
        return;
    if (last && start >= last->start && start <= last->end) {
        last->end = end > last->end ? end : last->end;
        return;
    }
    if (of->count >= 2 * limit(spans))
        settle(of, limit(spans));
    of->list = xgrow(of->list, &of->room, of->count, sizeof(*of->list));
    of->list[of->count++] = (struct time_span){start, end};
}

void event_spans_join(struct event_spans *spans, const event_id *events,
                      const struct event_spans *next, uint64_t shift)
{
    for (size_t i = 0; i < next->count; i++) {
        const struct spans *from = &next->of[i];
        event_id event = i ? events[i - 1] : 0;

        if (!from->known || (i && !event))
            continue;
        place(spans, event);
        for (size_t s = 0; s < from->count; s++)
            event_spans_add(spans, event, from->list[s].start + shift, from->list[s].end + shift);
    }
}

/* ---- bytes ---- */

void event_spans_encode(const struct event_spans *spans, event_id event, size_t first, size_t count,
                        struct buffer *bytes)
{
    const struct time_span *list = spans->of[event].list;
    uint64_t last = 0;

    buffer_varint(bytes, event);
    buffer_varint(bytes, count);
    for (size_t i = first; i < first + count; i++) {
        buffer_zigzag(bytes, (int64_t)(list[i].start - last));
        buffer_varint(bytes, list[i].end - list[i].start);
        last = list[i].end;
    }
}

void event_spans_decode(struct event_spans *spans, const struct profile *profile,
                        struct cursor *cursor)
{
    event_id event =
        (event_id)cursor_varint(cursor, profile_counts(profile).events, "event is not defined");
    uint64_t count = cursor_varint(cursor, UINT64_MAX, ""), last = 0;

    if (!cursor->problem)
        place(spans, event);
    for (uint64_t i = 0; i < count && !cursor->problem; i++) {
        uint64_t start = cursor_delta(cursor, last, UINT64_MAX, "");

        last = saturating_sum(start, cursor_varint(cursor, UINT64_MAX, ""));
        if (!cursor->problem)
            event_spans_add(spans, event, start, last);
    }
}
