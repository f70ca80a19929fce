// SPDX-License-Identifier: Apache-2.0
/*
 * Read bytes as a symbol file of the JIT's list (libFuzzer). The first byte selects one of the two
 * formats.
 */
#include <stdlib.h>
#include <string.h>

#include "beam/gdb_jit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* Check what the header file promises. */
static void check_module(const struct gdb_jit_module *module)
{
    size_t length = 0;

    for (uint32_t i = 0; i < module->range_count; i++) {
        const struct gdb_jit_range *range = &module->ranges[i];

        check(range[0].start <= range[0].end);
        check(!i || range[-1].start <= range[0].start);
        check(range[0].first_line <= range[1].first_line);
        check(range[1].first_line <= module->line_count);
        length += strlen(module->strings + range->symbol);
    }
    for (uint32_t i = 0; i < module->line_count; i++)
        length += strlen(module->strings + module->lines[i].file);
    check(length < (size_t)1 << 32);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool old_format = size && (data[0] & 1);
    struct gdb_jit_module module;
    struct gdb_jit_header header;
    struct error error;

    if (!size)
        return 0;
    data++;
    size--;
    if (gdb_jit_parse_header(data, size, old_format, &header, &error) == 0)
        check(header.base + header.code_size >= header.base &&
              strlen(header.name) < sizeof(header.name));
    if (gdb_jit_parse_module(data, size, old_format, &module, &error) == 0) {
        check_module(&module);
        gdb_jit_free_module(&module);
    }
    return 0;
}
