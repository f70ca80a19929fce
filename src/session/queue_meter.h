// SPDX-License-Identifier: Apache-2.0
/*
 * The longest message queues of a VM, by what their processes are called: registered name, label or
 * initial call. Processes of the same name are one entry. A process without any of these has none.
 */
#pragma once

#include <stdbool.h>

#include "beam/process_sweep.h"
#include "session/node_numbers.h"
#include "symbol/symbolizer.h"

/* Read the queues of all processes; of more than 100,000, those of some, chosen by chance. Sets the
 * numbers of queues. Nothing changes if the VM has ended. */
void queue_meter_read(struct process_sweep *sweep, struct vm *vm, struct symbolizer *symbolizer,
                      const struct profile *profile, uint64_t now, struct node_numbers *numbers);
