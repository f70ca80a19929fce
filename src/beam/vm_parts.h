// SPDX-License-Identifier: Apache-2.0
/* The steps of vm_open(), each on a struct vm of which the steps before have filled their part. */
#pragma once

#include "beam/vm.h"

/* All of the below, in their order: of memory, mappings, entry and build the rest is found out. */
int vm_examine(struct vm *vm, struct error *error);

/* Fill vm->layout: from DWARF of the executable or of its debug file, else from the table. */
int vm_choose_layout(struct vm *vm, struct elf_file *executable, struct error *error);

/* Fill vm->schedulers, following vm->roots.schedulers. */
int vm_read_schedulers(struct vm *vm, struct error *error);

/* Compare layout and roots with the live VM; ERROR_UNSUPPORTED says what does not fit. */
int vm_check(struct vm *vm, struct error *error);
