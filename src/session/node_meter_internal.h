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

/* Adds up what the events of one VM count, over all segments. */

struct event_meter;

struct event_meter *event_meter_new(const struct session_options *options);
void event_meter_free(struct event_meter *meter);

/* Update the numbers of events; variances only with the last call of a segment. `is_last`: the
 * segment ends, and `probes` count from 0 again. */
void event_meter_read(struct event_meter *meter, const struct event_probes *probes, bool is_last,
                      struct node_numbers *numbers);

/* ---- queue_meter.c ---- */

/*
 * Finds the longest message queues of a VM. Processes are listed by their registered name, else by
 * their label, else by their initial call. Processes of the same name are one entry; a process
 * without any of these names is left out.
 */

/* Read the queues of all processes, or of 100,000 picked at random if there are more. Set the
 * numbers of queues. Nothing changes if the VM has ended. */
void queue_meter_read(struct process_sweep *sweep, struct vm *vm, struct symbolizer *symbolizer,
                      const struct profile *profile, uint64_t now, struct node_numbers *numbers);
