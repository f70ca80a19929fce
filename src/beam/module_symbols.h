// SPDX-License-Identifier: Apache-2.0
/* The symbols of modules. VMs of one release have the same modules, so modules with equal symbols
 * share them. */
#pragma once

#include "beam/code_kind.h"
#include "beam/gdb_jit.h"

struct module_symbols {
    struct gdb_jit_module table;
    struct range_kind *kinds; /* of each range of the table */
};

/* Return the symbols of a module. Takes over what `table` points to. */
const struct module_symbols *module_symbols_share(const char *module, struct gdb_jit_module *table);
void module_symbols_release(const struct module_symbols *symbols); /* NULL: nothing */
