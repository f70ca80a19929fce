// SPDX-License-Identifier: Apache-2.0
/* The parts of node_meter.c. */
#pragma once

#include <stdbool.h>

#include "beam/process_sweep.h"
#include "capture/event_probes.h"
#include "session/node_numbers.h"
#include "session/options.h"
#include "symbol/symbolizer.h"

/* ---- event_meter.c ---- */

/* What the events of one VM have counted, over all segments. */

struct event_meter;

struct event_meter *event_meter_new(const struct session_options *options);
void event_meter_free(struct event_meter *meter);

/* Update the numbers that are of events. `is_last`: the segment ends, and `probes` count from 0
 * again. */
void event_meter_read(struct event_meter *meter, const struct event_probes *probes, bool is_last,
                      struct node_numbers *numbers);

/* ---- queue_meter.c ---- */

/*
 * The longest message queues of a VM, by what their processes are called: registered name, label or
 * initial call. Processes of the same name are one entry. A process without any of these has none.
 */

/* Read the queues of all processes; of more than 100,000, those of some, chosen by chance. Sets the
 * numbers of queues. Nothing changes if the VM has ended. */
void queue_meter_read(struct process_sweep *sweep, struct vm *vm, struct symbolizer *symbolizer,
                      const struct profile *profile, uint64_t now, struct node_numbers *numbers);
