// SPDX-License-Identifier: Apache-2.0
/* The functions that the VM calls in its port drivers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/vm.h"

/* Called with the address of a function. Returns false if it was seen before: its tail calls were
 * then visited too. */
typedef bool (*driver_visit)(void *context, uint64_t function);

/* Visit the driver functions that can be on the stack after the VM has called a driver: the
 * callbacks, and the functions that a callback jumps to at its end. Drivers are found by the ports
 * that use them. Drivers and functions that can't be read are skipped. */
void drivers_each_function(struct vm *vm, driver_visit visit, void *context);
