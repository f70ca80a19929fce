// SPDX-License-Identifier: Apache-2.0
#include "session/session_internal.h"

/* Steps take 0.1 s; writing to a slow disk can take longer. */
static const uint64_t STILL_NS = 2000000000;

/* Samples this close to an end of the time may have been taken before or after it. */
static const uint64_t EDGE_NS = 500000000;

void presence_begin(struct presence *presence, uint64_t now)
{
    *presence = (struct presence){.since = now};
}

void presence_sample(struct presence *presence, uint64_t time, uint64_t now)
{
    if (time > presence->since + EDGE_NS && time + EDGE_NS < now)
        presence->sampled = true;
}

void presence_step(struct presence *presence, uint64_t now, struct event_spans *spans)
{
    if (now - presence->since <= STILL_NS || presence->sampled)
        event_spans_add(spans, 0, presence->since, now);
    presence_begin(presence, now);
}
