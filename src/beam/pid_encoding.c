// SPDX-License-Identifier: Apache-2.0
#include "beam/pid_encoding.h"

#include <stdio.h>

#include "beam/term.h"
#include "vm_constants.h"

/* Read a mask of the ErtsPTab at `table`. Masks have 32 bits until 25 and 64 bits from 26 on; the
 * distance between two masks is their width. */
static bool read_mask(struct vm *vm, uint64_t table, int32_t offset, uint64_t *mask)
{
    const struct layout *layout = &vm->layout;
    uint64_t address = table + (uint64_t)offset;
    uint32_t narrow;

    if (layout->ptab_pix_cl_mask - layout->ptab_pix_mask == 8)
        return memory_read_u64(vm->memory, address, mask);
    if (!memory_read_u32(vm->memory, address, &narrow))
        return false;
    *mask = narrow;
    return true;
}

static bool read_shift(struct vm *vm, uint64_t table, int32_t offset, int32_t *shift)
{
    uint32_t value;

    if (!memory_read_u32(vm->memory, table + (uint64_t)offset, &value) || value > 63)
        return false;
    *shift = (int32_t)value;
    return true;
}

static bool read_encoding(struct vm *vm, uint64_t table, struct pid_encoding *encoding)
{
    const struct layout *layout = &vm->layout;
    struct pid_encoding read = {.wide = vm->features.wide_pids};

    if (!table || !read_mask(vm, table, layout->ptab_pix_mask, &read.pix_mask) ||
        !read_mask(vm, table, layout->ptab_pix_cl_mask, &read.pix_cl_mask) ||
        !read_mask(vm, table, layout->ptab_pix_cli_mask, &read.pix_cli_mask) ||
        !read_shift(vm, table, layout->ptab_pix_cl_shift, &read.pix_cl_shift) ||
        !read_shift(vm, table, layout->ptab_pix_cli_shift, &read.pix_cli_shift))
        return false;
    *encoding = read;
    return true;
}

int pid_encoding_read(struct vm *vm, struct pid_encoding *encoding, struct error *error)
{
    if (!read_encoding(vm, vm->roots.proc_table, encoding))
        return error_set(error, ERROR_UNSUPPORTED, "the process table of process %d can't be read",
                         vm->pid);
    return 0;
}

int pid_encoding_read_ports(struct vm *vm, struct pid_encoding *encoding, struct error *error)
{
    if (!read_encoding(vm, vm->roots.port_table, encoding))
        return error_set(error, ERROR_UNSUPPORTED, "the port table of process %d can't be read",
                         vm->pid);
    return 0;
}

uint64_t pid_encoding_index(const struct pid_encoding *encoding, uint64_t term)
{
    return encoding->wide ? term >> TAG_IMMED1_SIZE & encoding->pix_mask : term >> 32;
}

/* The data of a term, in counting order. */
static uint64_t data_of(const struct pid_encoding *encoding, uint64_t term)
{
    uint64_t pixdata = term >> TAG_IMMED1_SIZE;

    if (!encoding->wide)
        return pixdata & 0xfffffff;
    return (pixdata & ~encoding->pix_mask) |
           (pixdata >> encoding->pix_cl_shift & encoding->pix_cl_mask) |
           (pixdata & encoding->pix_cli_mask) << encoding->pix_cli_shift;
}

bool pid_encoding_format(const struct pid_encoding *encoding, uint64_t term, char *buffer,
                         size_t size)
{
    int number_bits = encoding->wide ? 28 : 15;
    uint64_t data = data_of(encoding, term);

    if (!term_is_pid(term))
        return false;
    snprintf(buffer, size, "<0.%llu.%llu>",
             (unsigned long long)(data & (((uint64_t)1 << number_bits) - 1)),
             (unsigned long long)(data >> number_bits));
    return true;
}

bool pid_encoding_format_port(const struct pid_encoding *encoding, uint64_t term, char *buffer,
                              size_t size)
{
    if (!term_is_port(term))
        return false;
    snprintf(buffer, size, "#Port<0.%llu>", (unsigned long long)data_of(encoding, term));
    return true;
}
