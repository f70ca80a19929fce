// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "beam/vm.h"
#include "profile/dump_tables.h"
#include "symbol/symbolizer.h"

/* Fill *tables, which must be all zero, with the ETS tables of the VM, the largest first. Their
 * owners become entries of `profile`. */
void dump_tables_take(struct vm *vm, struct symbolizer *symbolizer, struct profile *profile,
                      struct dump_tables *tables);
