// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the numbers of a VM for its operators while it is recorded (node_numbers.h).
 *
 * A few words of memory are read each second. What takes longer (allocators, tables, ports, the
 * queues of all processes) is read each ten seconds. Readings of many VMs are less frequent: those
 * of all VMs together take at most 0.1 % and 0.3 % of a CPU.
 *
 * CPU samples say what the kernel's account of the VM's CPU time was used for: each second's time
 * is divided by the times that its samples stand for. Counts of events are their totals, which are
 * estimates where windows cover a part of the time. A better estimate may be lower than one before;
 * a number that counts never goes back.
 */
#pragma once

#include "session/node_numbers.h"
#include "session/options.h"
#include "session/segment.h"
#include "session/targets.h"

struct node_meter;

/* Borrows the VM and the options. */
struct node_meter *node_meter_new(struct vm *vm, const struct session_options *options);
void node_meter_free(struct node_meter *meter);

/* Count a CPU sample of the VM, which stands for `ns` before scaling. */
void node_meter_cpu_sample(struct node_meter *meter, const struct profile *profile,
                           const struct sample *sample, uint64_t ns);

/* Count what the events of a target have counted in its segment, which ends now. */
void node_meter_end_segment(const struct target *target);

/* Read what is due of all targets that have not ended. */
void node_meters_step(const struct targets *targets, const struct segment *segment);

/* The newest numbers. Valid until the next step. */
const struct node_numbers *node_meter_numbers(const struct node_meter *meter);
