// SPDX-License-Identifier: Apache-2.0
/* Reads the VM's allocators: the memory that they got from the operating system, and the part that
 * they gave out. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/vm.h"
#include "profile/dump.h"

/* Read what each allocator has now. The VM may use an allocator during the read, so its sizes may
 * be from different moments. ERROR_UNSUPPORTED: this VM's allocators are unknown, or their counts
 * can't be true. */
int allocators_read(struct vm *vm, struct allocators *ret, struct error *error);

/* The size of erts_allctrs_info[] in bytes. allocators_are() is true if `bytes` can be that array:
 * each element leads to an instance that has the element's number. */
enum { ALLOCATORS_BYTES = (ERTS_ALC_A_COUNT + 1) * 24 };
bool allocators_are(struct memory *memory, const struct layout *layout, const uint8_t *bytes);

/* ---- node_memory.c ---- */

/* Reads where the memory of a VM is, and how full its tables are. */

/* What can't be read is unknown. */
void node_memory_read(struct vm *vm, struct memory_use *ret);
