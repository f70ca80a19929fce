// SPDX-License-Identifier: Apache-2.0
/* The table of all processes (erl_ptab.h, ErtsPTab). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/vm.h"

/* One process of the table: its index there and the address of its struct. */
typedef bool (*process_table_visit)(void *context, uint64_t index, uint64_t process);

/* Visit all processes, in the order of the table; a visit that returns false ends it. Returns 0,
 * or -1 with error if the table can't be read. Processes come and go meanwhile. */
int process_table_each(struct vm *vm, process_table_visit visit, void *context,
                       struct error *error);

/* Address of the process at an index of the table; 0 if there is none, or it can't be read. */
uint64_t process_table_at(struct vm *vm, uint64_t index);
