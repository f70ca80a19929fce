// SPDX-License-Identifier: Apache-2.0
/* The table of all processes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
