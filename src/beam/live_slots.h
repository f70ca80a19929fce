// SPDX-License-Identifier: Apache-2.0
/*
 * The processes of a VM that is looked at again and again, without reading its whole process table
 * each time: that has up to a million slots (8 MB), most of them empty.
 *
 * A VM takes the data of a new process from a queue, ErtsPTab.r.o.free_id_data, at the position
 * vola.tile.aid_ix; the data say the slot (erts_ptab_new_element(), erl_ptab.c 29.1.1:473). After a
 * complete look at the table, the next data of the queue are read. The next look reads the slots
 * that were in use, and those whose data have left the queue since. It is a complete look again
 * from time to time, if too many processes were started, and if data were missing in the queue.
 */
#pragma once

#include "beam/pid_encoding.h"
#include "beam/ptab.h"

struct live_slots;

/* Never NULL. `vm` and `encoding` are borrowed. */
struct live_slots *live_slots_new(struct vm *vm, const struct pid_encoding *encoding);
void live_slots_free(struct live_slots *live);

/* Visit the processes as ptab_each() does: in the order of the table. */
int live_slots_each(struct live_slots *live, ptab_visit visit, void *context, struct error *error);

/* Number of looks that have read the whole table. */
uint64_t live_slots_complete_looks(const struct live_slots *live);
