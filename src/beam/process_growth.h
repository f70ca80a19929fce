// SPDX-License-Identifier: Apache-2.0
/*
 * By how much a value of each process has grown from one sweep over all of them to the next.
 *
 * Sweeps meet processes in the order of the table, so what the sweep before has noted is compared
 * as two sorted lists are: 32 bytes a process, whatever the size of the table.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct process_growth;

struct process_growth *process_growth_new(void);
void process_growth_free(struct process_growth *growth);

/* A sweep begins: what was noted since the last call is what is compared with. */
void process_growth_begin(struct process_growth *growth);

/* Note the value of the process at this index of the table, which is above that of the call before,
 * with this pid term; UINT64_MAX where it is not known. Fills *grown, from 0 for a process that was
 * not there; false where it is not known. */
bool process_growth_note(struct process_growth *growth, uint64_t index, uint64_t id, uint64_t value,
                         int64_t *grown);
