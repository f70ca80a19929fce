// SPDX-License-Identifier: Apache-2.0
#include "beam/ptab.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "vm_constants.h"

enum { CHUNK = 32768 };

bool ptab_read(struct vm *vm, uint64_t root, struct ptab *table)
{
    const struct layout *layout = &vm->layout;

    return root && memory_read_u64(vm->memory, root + layout->ptab_tab, &table->slots) &&
           memory_read_u64(vm->memory, root + layout->ptab_invalid_element, &table->invalid) &&
           memory_read_u32(vm->memory, root + layout->ptab_max, &table->max) &&
           table->max <= ERTS_PTAB_MAX_SIZE;
}

bool ptab_read_mask(struct vm *vm, uint64_t root, int32_t offset, uint64_t *mask)
{
    const struct layout *layout = &vm->layout;
    uint64_t address = root + (uint64_t)offset;
    uint32_t narrow;

    if (layout->ptab_pix_cl_mask - layout->ptab_pix_mask == sizeof(*mask))
        return memory_read_u64(vm->memory, address, mask);
    if (!memory_read_u32(vm->memory, address, &narrow))
        return false;
    *mask = narrow;
    return true;
}

bool ptab_read_shift(struct vm *vm, uint64_t root, int32_t offset, int32_t *shift)
{
    uint32_t value;

    if (!memory_read_u32(vm->memory, root + (uint64_t)offset, &value) || value > 63)
        return false;
    *shift = (int32_t)value;
    return true;
}

bool ptab_read_newest(struct vm *vm, uint64_t root, uint32_t *position)
{
    const struct layout *layout = &vm->layout;
    uint64_t queue;

    return root && layout->ptab_aid_ix >= 0 && layout->ptab_free_id_data >= 0 &&
           memory_read_u64(vm->memory, root + (uint64_t)layout->ptab_free_id_data, &queue) &&
           queue && memory_read_u32(vm->memory, root + (uint64_t)layout->ptab_aid_ix, position);
}

int ptab_unreadable(const struct vm *vm, const char *what, struct error *error)
{
    return error_set(error, ERROR_UNSUPPORTED, "the %s table of process %d can't be read", what,
                     vm->pid);
}

bool ptab_visit_slots(const uint64_t *slots, uint32_t count, uint64_t first, uint64_t invalid,
                      ptab_visit visit, void *context)
{
    for (uint32_t i = 0; i < count; i++) {
        if (slots[i] && slots[i] != invalid && !visit(context, first + i, slots[i]))
            return false;
    }
    return true;
}

int ptab_each(struct vm *vm, uint64_t root, const char *what, ptab_visit visit, void *context,
              struct error *error)
{
    uint64_t *chunk = xmalloc(CHUNK * sizeof(*chunk));
    struct ptab table;
    bool readable = ptab_read(vm, root, &table), more = true;

    for (uint32_t at = 0; readable && more && at < table.max; at += CHUNK) {
        uint32_t count = table.max - at < CHUNK ? table.max - at : CHUNK;

        readable = memory_read(vm->memory, table.slots + at * sizeof(*chunk), chunk,
                               count * sizeof(*chunk));
        more = readable && ptab_visit_slots(chunk, count, at, table.invalid, visit, context);
    }
    free(chunk);
    return readable ? 0 : ptab_unreadable(vm, what, error);
}
