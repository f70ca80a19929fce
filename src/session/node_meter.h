// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the numbers of a VM for its operators while it is recorded (node_numbers.h).
 *
 * A few words of memory are read every second. Slow readings (allocators, tables, ports, the queues
 * of all processes) are taken every ten seconds. With many VMs, readings are less frequent: quick
 * readings of all VMs together take at most 0.1 % of a CPU, slow ones 0.3 %.
 *
 * CPU samples show which threads and states used the VM's CPU time: the kernel's account of each
 * second is divided in proportion to the times of its samples. Counts of events are estimates where
 * windows cover a part of the time. A later estimate may be lower than an earlier one; a number
 * that counts then keeps its value.
 */
#pragma once

#include "session/node_numbers.h"
#include "session/options.h"
#include "session/segment.h"
#include "session/targets.h"

struct node_meter;

/* Borrows the options, and the VM and the sweep room of the target. */
struct node_meter *node_meter_new(const struct target *target,
                                  const struct session_options *options);
void node_meter_free(struct node_meter *meter);

/* Count a CPU sample of the VM, which stands for `ns` before scaling. */
void node_meter_cpu_sample(struct node_meter *meter, const struct profile *profile,
                           const struct sample *sample, uint64_t ns);

/* Add the counts of the target's events in the segment that ends now. */
void node_meter_end_segment(const struct target *target);

/* Take the readings that are due, of all targets that have not ended. */
void node_meters_step(const struct targets *targets, const struct segment *segment);

/* The newest numbers. Valid until the next step. */
const struct node_numbers *node_meter_numbers(const struct node_meter *meter);
