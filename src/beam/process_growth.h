// SPDX-License-Identifier: Apache-2.0
/*
 * The growth of a value of each process between two sweeps over all processes.
 *
 * A sweep visits processes in the order of the table, so two sweeps are compared like two sorted
 * lists. This takes 32 bytes per process, whatever the size of the table.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct process_growth;

struct process_growth *process_growth_new(void);
void process_growth_free(struct process_growth *growth);

/* Begin a sweep: its values will be compared with those noted since the last call. */
void process_growth_begin(struct process_growth *growth);

/* Note the value of the process with this pid term at this index of the table; UINT64_MAX if the
 * value is unknown. The index must be above that of the last call. Fills *grown with the growth
 * since the last sweep, counted from 0 for a new process. False if the growth is unknown. */
bool process_growth_note(struct process_growth *growth, uint64_t index, uint64_t id, uint64_t value,
                         int64_t *grown);
