// SPDX-License-Identifier: Apache-2.0
/*
 * Reads metrics of a whole VM while it is recorded (--node-metrics): once a second, or less often
 * if that would need more than 1 % of a CPU. Only readings that differ from the one before are
 * kept.
 *
 * Only large tables and ports have series: a table of less than 32 kB, or a port with an empty
 * queue, counts as 0 until it grows.
 */
#pragma once

#include <stdbool.h>

#include "session/segment.h"
#include "session/target.h"
#include "session/targets.h"

struct node_watch;

/* `sections`: 1 << enum dump_section each; DUMP_PROCESSES is ignored. Borrows the VM. */
struct node_watch *node_watch_new(struct vm *vm, uint32_t sections);
void node_watch_free(struct node_watch *watch);

/* The watches of a session, at all targets that have not ended: read what is due. `is_last`: read
 * once more before the segment ends, unless that takes long. */
void node_watches_step(const struct targets *targets, struct segment *segment, bool is_last);
