// SPDX-License-Identifier: Apache-2.0
/* The drivers of a VM, those of ports: what it calls in them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/vm.h"

/* Called for a function (its address). False if it was seen before: then what it ends in was, too.
 */
typedef bool (*driver_visit)(void *context, uint64_t function);

/* Visit the functions in which drivers are when the VM has called them: their callbacks, and those
 * that a callback ends in. The drivers are found by the ports that use them; what can't be read is
 * left out. */
void drivers_each_function(struct vm *vm, driver_visit visit, void *context);
