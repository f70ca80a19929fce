// SPDX-License-Identifier: Apache-2.0
#include "os/instruction.h"

#include <capstone/capstone.h>
#include <stdlib.h>

#include "os/function_start.h"
#include "os/native_code.h"
#include "util/alloc.h"

enum { FUNCTION_BYTES_MAX = 1 << 20 };

/* True if decoding from `start` reaches `address`. C compilers put no data into x86-64 functions,
 * so each instruction directly follows the previous one. */
static bool is_reached(csh capstone, const uint8_t *code, size_t size, uint64_t start,
                       uint64_t address)
{
    cs_insn *instruction = cs_malloc(capstone);
    uint64_t at = start;

    while (at < address && cs_disasm_iter(capstone, &code, &size, &at, instruction))
        ;
    cs_free(instruction, 1);
    return at == address && size > 0;
}

bool instruction_begins_at(struct elf_file *file, uint64_t function, uint64_t address)
{
    uint64_t start, end;
    bool begins = false;
    uint8_t *code;
    csh capstone;

    if (!native_function_find(file, function, &start, &end) || start != function ||
        address < start || address >= end || end - start > FUNCTION_BYTES_MAX ||
        cs_open(CS_ARCH_X86, CS_MODE_64, &capstone) != CS_ERR_OK)
        return false;
    code = xmalloc(end - start);
    if (native_code_read(file, start, code, end - start))
        begins = is_reached(capstone, code, end - start, start, address);
    free(code);
    cs_close(&capstone);
    return begins;
}
