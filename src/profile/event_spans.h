// SPDX-License-Identifier: Apache-2.0
/*
 * When each event could be seen: the windows of its probes, the sweeps of event wall. An event
 * without a list could be seen all the time. The list of event 0 has the times in which the
 * recorder itself ran: outside of it nothing was seen, such as while the machine stood still.
 *
 * The spans of several targets are united: in a span, the event was seen in one of them at least.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "util/buffer.h"
#include "util/cursor.h"

enum {
    EVENT_SPANS_MAX = 1 << 16, /* kept of an event, after event_spans_settle() */
    EVENT_SPANS_ALL = 1 << 19, /* kept of all events together, about */
};

struct time_span {
    uint64_t start, end; /* ns, CLOCK_MONOTONIC, or of the joined recording */
};

struct spans {
    bool known; /* there is a list, even if it is empty */
    struct time_span *list;
    size_t count, room;
};

/* All zero is empty. */
struct event_spans {
    struct spans *of; /* by event id */
    size_t count, room;
};

void event_spans_free(struct event_spans *spans);

/* Remove the spans. The lists stay known. */
void event_spans_clear(struct event_spans *spans);

/* Make the list of an event known. */
void event_spans_place(struct event_spans *spans, event_id event);

/* Make the list of an event unknown. */
void event_spans_drop(struct event_spans *spans, event_id event);

/* Add a span, in any order. An empty span is ignored. */
void event_spans_add(struct event_spans *spans, event_id event, uint64_t start, uint64_t end);

/* The list of an event; NULL if it is not known. */
const struct spans *event_spans_get(const struct event_spans *spans, event_id event);

/* Return the ns between the spans of an event that lie in the part from..to. The times before its
 * first span and after its last one are no gaps. The list must be settled. */
uint64_t event_spans_gaps(const struct event_spans *spans, event_id event, uint64_t from,
                          uint64_t to);

/* Sort each list and unite the spans that touch. If there are more spans than may be kept,
 * neighbours become one span with the length of both, so that the sum of the lengths stays
 * right. */
void event_spans_settle(struct event_spans *spans);

/* Add the lists of another recording. `events`: the new ids, by id - 1; an event with id 0 is left
 * out. `shift` is added to its times (wrapping). */
void event_spans_join(struct event_spans *spans, const event_id *events,
                      const struct event_spans *next, uint64_t shift);

/* Encode `count` spans of a list from `first` on (recording_format.h). Decoding adds spans; on
 * error, it sets cursor->problem. */
void event_spans_encode(const struct event_spans *spans, event_id event, size_t first, size_t count,
                        struct buffer *bytes);
void event_spans_decode(struct event_spans *spans, const struct profile *profile,
                        struct cursor *cursor);
