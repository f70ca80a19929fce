// SPDX-License-Identifier: Apache-2.0
/* The name of a node, also before the VM has it: a VM takes its name some 100 ms after it began. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "beam/vm.h"

/* Read the name that the VM has now; "" if it has none, also for nonode@nohost. */
void node_name_now(struct vm *vm, char *name, size_t size);

/* Return the ns until the next look for the name of a VM that has none: 1 s, then twice as long
 * each time, while that is below `longest`. `last`: what the last call returned; less than 1 s at
 * first. */
uint64_t node_name_pause(uint64_t last, uint64_t longest);

/* Return the name that the command line of the VM requests by -sname or -name, malloc'ed; NULL if
 * it requests none. Its host may be missing. */
char *node_name_requested(pid_t pid);
