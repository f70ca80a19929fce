// SPDX-License-Identifier: Apache-2.0
#include "os/function_entry.h"

#include <capstone/capstone.h>

#include "os/function_start.h"
#include "os/native_code.h"

enum { LOOKED_AT_BYTES = 128 };

/* Registers of the calling convention (System V ABI x86-64, 3.2.3), in all widths. */
static bool is_argument(uint16_t id)
{
    static const uint16_t ARGUMENTS[] = {
        X86_REG_RDI, X86_REG_EDI, X86_REG_DI,  X86_REG_DIL, X86_REG_RSI, X86_REG_ESI, X86_REG_SI,
        X86_REG_SIL, X86_REG_RDX, X86_REG_EDX, X86_REG_DX,  X86_REG_DL,  X86_REG_DH,  X86_REG_RCX,
        X86_REG_ECX, X86_REG_CX,  X86_REG_CL,  X86_REG_CH,  X86_REG_R8,  X86_REG_R8D, X86_REG_R8W,
        X86_REG_R8B, X86_REG_R9,  X86_REG_R9D, X86_REG_R9W, X86_REG_R9B,
    };

    for (size_t i = 0; i < sizeof(ARGUMENTS) / sizeof(*ARGUMENTS); i++)
        if (ARGUMENTS[i] == id)
            return true;
    return false;
}

static bool is_stack_pointer(uint16_t id)
{
    return id == X86_REG_RSP || id == X86_REG_ESP || id == X86_REG_SP || id == X86_REG_SPL;
}

/* Does the entry's state outlast this instruction? Jumps from further on to its successor are not
 * looked for: compilers put no loop around a prologue. */
static bool leaves_entry_alone(csh capstone, const cs_insn *instruction, bool keep_stack)
{
    cs_regs read, written;
    uint8_t read_count, written_count;

    if (cs_insn_group(capstone, instruction, CS_GRP_JUMP) ||
        cs_insn_group(capstone, instruction, CS_GRP_CALL) ||
        cs_insn_group(capstone, instruction, CS_GRP_RET) ||
        cs_regs_access(capstone, instruction, read, &read_count, written, &written_count) !=
            CS_ERR_OK)
        return false;
    for (uint8_t i = 0; i < written_count; i++)
        if (is_argument(written[i]) || (keep_stack && is_stack_pointer(written[i])))
            return false;
    return true;
}

static uint64_t find(csh capstone, const uint8_t *code, size_t size, uint64_t start,
                     bool keep_stack, instruction_accept accept)
{
    cs_insn *instruction = cs_malloc(capstone);
    uint64_t at = start, found = start;

    for (;;) {
        const uint8_t *bytes = code;

        if (accept(bytes, size)) {
            found = at;
            break;
        }
        if (!cs_disasm_iter(capstone, &code, &size, &at, instruction) ||
            !leaves_entry_alone(capstone, instruction, keep_stack))
            break;
    }
    cs_free(instruction, 1);
    return found;
}

uint64_t function_entry_find(struct elf_file *file, uint64_t start, bool keep_stack,
                             instruction_accept accept)
{
    uint8_t code[LOOKED_AT_BYTES];
    uint64_t begin, end, found = start;
    size_t size;
    csh capstone;

    if (!native_function_find(file, start, &begin, &end) || begin != start || end <= start)
        return start;
    size = end - start < sizeof(code) ? end - start : sizeof(code);
    if (!native_code_read(file, start, code, size) ||
        cs_open(CS_ARCH_X86, CS_MODE_64, &capstone) != CS_ERR_OK)
        return start;
    if (cs_option(capstone, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK)
        found = find(capstone, code, size, start, keep_stack, accept);
    cs_close(&capstone);
    return found;
}
