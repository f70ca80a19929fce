// SPDX-License-Identifier: Apache-2.0
/*
 * Pids as Erlang prints them: <0.NUMBER.SERIAL>.
 *
 * A pid term holds data that distinguish processes, and the index of the process in the process
 * table:
 *
 *   until 25   pix:32 | data:28 | 0011              number = data[0..15), serial = data[15..28)
 *   from 26    pixdata:60       | 0011              number = data[0..28), serial = data[28..60)
 *
 * From 26 on the index is in the low bits of pixdata. Data is pixdata with these bits permuted back
 * to counting order (erts_ptab_pixdata2data, erl_ptab.h 29:288). Consecutive processes in counting
 * order are in different cache lines of the table.
 */
#include "beam/process_info.h"

#include <stdio.h>

#include "beam/term.h"

/* Read a mask. Masks have 32 bits until 25 and 64 bits from 26 on; the distance between two masks
 * is their width. */
static bool read_mask(struct vm *vm, int32_t offset, uint64_t *mask)
{
    const struct layout *layout = &vm->layout;
    uint64_t address = vm->roots.proc_table + offset;
    uint32_t narrow;

    if (layout->ptab_pix_cl_mask - layout->ptab_pix_mask == 8)
        return memory_read_u64(vm->memory, address, mask);
    if (!memory_read_u32(vm->memory, address, &narrow))
        return false;
    *mask = narrow;
    return true;
}

static bool read_shift(struct vm *vm, int32_t offset, int32_t *shift)
{
    uint32_t value;

    if (!memory_read_u32(vm->memory, vm->roots.proc_table + offset, &value) || value > 63)
        return false;
    *shift = (int32_t)value;
    return true;
}

int pid_encoding_read(struct vm *vm, struct pid_encoding *encoding, struct error *error)
{
    const struct layout *layout = &vm->layout;
    struct pid_encoding read = {.wide = vm->features.wide_pids};

    if (!read_mask(vm, layout->ptab_pix_mask, &read.pix_mask) ||
        !read_mask(vm, layout->ptab_pix_cl_mask, &read.pix_cl_mask) ||
        !read_mask(vm, layout->ptab_pix_cli_mask, &read.pix_cli_mask) ||
        !read_shift(vm, layout->ptab_pix_cl_shift, &read.pix_cl_shift) ||
        !read_shift(vm, layout->ptab_pix_cli_shift, &read.pix_cli_shift))
        return error_set(error, ERROR_UNSUPPORTED, "the process table of process %d can't be read",
                         vm->pid);
    *encoding = read;
    return 0;
}

uint64_t pid_table_index(const struct pid_encoding *encoding, uint64_t term)
{
    return encoding->wide ? term >> TAG_IMMED1_SIZE & encoding->pix_mask : term >> 32;
}

bool pid_format(const struct pid_encoding *encoding, uint64_t term, char *buffer, size_t size)
{
    uint64_t data, number, serial;

    if (!term_is_pid(term))
        return false;
    if (encoding->wide) {
        uint64_t pixdata = term >> TAG_IMMED1_SIZE;

        data = (pixdata & ~encoding->pix_mask) |
               (pixdata >> encoding->pix_cl_shift & encoding->pix_cl_mask) |
               (pixdata & encoding->pix_cli_mask) << encoding->pix_cli_shift;
        number = data & 0xfffffff;
        serial = data >> 28;
    } else {
        data = term >> TAG_IMMED1_SIZE & 0xfffffff;
        number = data & 0x7fff;
        serial = data >> 15;
    }
    snprintf(buffer, size, "<0.%llu.%llu>", (unsigned long long)number, (unsigned long long)serial);
    return true;
}
