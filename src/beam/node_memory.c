// SPDX-License-Identifier: Apache-2.0
#include "beam/allocators.h"

#include "os/process.h"
#include "vm_constants.h"

/* atom_count and atom_limit (index.h 25.2.3:44, 27.3.4.1:44, 29.1.1:46). */
static struct table_use atoms(struct vm *vm)
{
    const struct layout *layout = &vm->layout;
    uint64_t table = vm->roots.atom_table;
    uint32_t entries, limit;

    if (layout->index_limit < 0 ||
        !memory_read_u32(vm->memory, table + (uint64_t)layout->index_entries, &entries) ||
        !memory_read_u32(vm->memory, table + (uint64_t)layout->index_limit, &limit) ||
        entries > limit || limit > INT32_MAX)
        return (struct table_use){0};
    return (struct table_use){entries, limit};
}

/* process_count and process_limit, or those of ports. The largest table has an entry that is not
 * used (erl_ptab.h 25.2.3:243-263, 27.3.4.1:264-284, 29.1.1:266-286). */
static struct table_use elements(struct vm *vm, uint64_t table)
{
    const struct layout *layout = &vm->layout;
    uint32_t count, limit, unused;

    if (!table || !memory_read_u32(vm->memory, table + (uint64_t)layout->ptab_count, &count) ||
        !memory_read_u32(vm->memory, table + (uint64_t)layout->ptab_max, &limit) ||
        limit > ERTS_PTAB_MAX_SIZE)
        return (struct table_use){0};
    unused = limit == ERTS_PTAB_MAX_SIZE;
    if (count < unused || count > limit)
        return (struct table_use){0};
    return (struct table_use){count - unused, limit - unused};
}

void node_memory_read(struct vm *vm, struct memory_use *ret)
{
    *ret = (struct memory_use){
        .atoms = atoms(vm),
        .processes = elements(vm, vm->roots.proc_table),
        .ports = elements(vm, vm->roots.port_table),
    };
    allocators_read(vm, &ret->allocators, &ret->unknown);
    if (!vm->core && (!process_resident_bytes(vm->pid, &ret->resident) ||
                      !process_own_bytes(vm->pid, &ret->anonymous)))
        ret->resident = ret->anonymous = 0;
}
