// SPDX-License-Identifier: Apache-2.0
#include "beam/pid_encoding.h"

#include <stdio.h>

#include "beam/ptab.h"
#include "beam/term.h"
#include "vm_constants.h"

static bool read_encoding(struct vm *vm, uint64_t table, struct pid_encoding *encoding)
{
    const struct layout *layout = &vm->layout;
    struct pid_encoding read = {.wide = vm->features.wide_pids};

    if (!table || !ptab_read_mask(vm, table, layout->ptab_pix_mask, &read.pix_mask) ||
        !ptab_read_mask(vm, table, layout->ptab_pix_cl_mask, &read.pix_cl_mask) ||
        !ptab_read_mask(vm, table, layout->ptab_pix_cli_mask, &read.pix_cli_mask) ||
        !ptab_read_shift(vm, table, layout->ptab_pix_cl_shift, &read.pix_cl_shift) ||
        !ptab_read_shift(vm, table, layout->ptab_pix_cli_shift, &read.pix_cli_shift))
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

uint64_t pid_encoding_index_of_data(const struct pid_encoding *encoding, uint64_t data)
{
    return ((data & encoding->pix_cl_mask) << encoding->pix_cl_shift) +
           (data >> encoding->pix_cli_shift & encoding->pix_cli_mask);
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

static int number_bits_of(const struct pid_encoding *encoding)
{
    return encoding->wide ? 28 : 15;
}

uint64_t pid_encoding_term(const struct pid_encoding *encoding, uint64_t number, uint64_t serial)
{
    int number_bits = number_bits_of(encoding), serial_bits = encoding->wide ? 32 : 13;
    uint64_t data = number | serial << number_bits;
    uint64_t index = pid_encoding_index_of_data(encoding, data);
    uint64_t pixdata = encoding->wide ? (data & ~encoding->pix_mask) | index : index << 28 | data;

    if (number >> number_bits || serial >> serial_bits)
        return 0;
    return pixdata << TAG_IMMED1_SIZE | TAG_IMMED1_PID;
}

bool pid_encoding_format(const struct pid_encoding *encoding, uint64_t term, char *buffer,
                         size_t size)
{
    int number_bits = number_bits_of(encoding);
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
