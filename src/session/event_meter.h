// SPDX-License-Identifier: Apache-2.0
/* What the events of one VM have counted, over all segments. */
#pragma once

#include "capture/event_probes.h"
#include "session/node_numbers.h"
#include "session/options.h"

struct event_meter;

struct event_meter *event_meter_new(const struct session_options *options);
void event_meter_free(struct event_meter *meter);

/* Update the numbers that are of events. `is_last`: the segment ends, and `probes` count from 0
 * again. */
void event_meter_read(struct event_meter *meter, const struct event_probes *probes, bool is_last,
                      struct node_numbers *numbers);
