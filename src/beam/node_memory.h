// SPDX-License-Identifier: Apache-2.0
/* Reads where the memory of a VM is, and how full its tables are. */
#pragma once

#include "beam/vm.h"
#include "profile/dump.h"

/* What can't be read is unknown. */
void node_memory_read(struct vm *vm, struct memory_use *ret);
