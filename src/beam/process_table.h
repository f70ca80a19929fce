// SPDX-License-Identifier: Apache-2.0
/* The table of all processes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/pid_encoding.h"
#include "beam/ptab.h"
#include "beam/vm.h"

/* Visit all processes in the order of the table. Returns 0, or -1 with error if the table can't be
 * read. Processes can appear and end during the visit. */
int process_table_each(struct vm *vm, ptab_visit visit, void *context, struct error *error);
/* Visit the processes at these indices. */
int process_table_some(struct vm *vm, const uint64_t *indices, size_t count, ptab_visit visit,
                       void *context, struct error *error);
/* Visit the processes in some cache lines of the table. Before each line, `skip` returns the number
 * of lines to skip. Skipped lines are not read, so they stay out of the target's caches. */
int process_table_lines(struct vm *vm, uint64_t (*skip)(void *context), ptab_visit visit,
                        void *context, struct error *error);

/* Address of the process at an index of the table; 0 if there is none, or if it can't be read. */
uint64_t process_table_at(struct vm *vm, uint64_t index);

/* ---- live_slots.c ---- */

/*
 * Finds the processes of a VM again and again, mostly without reading its whole process table. The
 * table has up to a million slots (8 MB), and most of them are empty.
 *
 * A VM takes the data of a new process from a queue, ErtsPTab.r.o.free_id_data, at the position
 * vola.tile.aid_ix. The data give the slot (erts_ptab_new_element(), erl_ptab.c 29.1.1:473).
 *
 * A complete look reads the whole table. Each look also reads the data that are next in the queue.
 * So the following look reads only the slots that were in use, and those whose data have left the
 * queue since. A look is complete again after 64 others, if more processes were started than data
 * were read, and if the queue had a place without data. All looks are complete if more than one
 * slot in 256 is used.
 */

struct live_slots;

/* Never NULL. `vm` and `encoding` are borrowed. */
struct live_slots *live_slots_new(struct vm *vm, const struct pid_encoding *encoding);
void live_slots_free(struct live_slots *live);

/* Visit the processes in the order of the table, as ptab_each() does. */
int live_slots_each(struct live_slots *live, ptab_visit visit, void *context, struct error *error);

/* Return the number of complete looks so far. */
uint64_t live_slots_complete_looks(const struct live_slots *live);
