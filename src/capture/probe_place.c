// SPDX-License-Identifier: Apache-2.0
#include "capture/probe_place.h"

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stdlib.h>

#include "capture/calibration.h"
#include "os/function_start.h"
#include "os/native_code.h"
#include "util/alloc.h"

enum {
    REACH = 64,             /* bytes from the entry that are searched */
    FUNCTION_MAX = 1 << 16, /* bytes */
    NOP5_SIZE = 5,
};

/* The registers of each argument, and last those of rsp (System V ABI 3.2.3). */
static const unsigned int passed[][5] = {
    {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
    {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
    {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
    {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
    {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
    {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
    {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
};

enum { ARGUMENTS = 6, STACK_POINTER = ARGUMENTS };

static bool is_part_of(unsigned int reg, unsigned int number)
{
    for (int i = 0; i < 5; i++) {
        if (reg == passed[number][i] && reg != X86_REG_INVALID)
            return true;
    }
    return false;
}

static bool is_needed(unsigned int reg, const struct probe_needs *needs)
{
    for (unsigned int i = 0; i < ARGUMENTS && i < needs->arguments; i++) {
        if (is_part_of(reg, i))
            return true;
    }
    return needs->stack && is_part_of(reg, STACK_POINTER);
}

/* True if the instruction writes memory that may be needed: any but the function's own stack, and
 * that too if the stack is needed. */
static bool writes_memory(const cs_x86 *x86, const struct probe_needs *needs)
{
    for (int i = 0; i < x86->op_count; i++) {
        const cs_x86_op *operand = &x86->operands[i];

        if (operand->type == X86_OP_MEM && (operand->access & CS_AC_WRITE) &&
            (needs->stack || operand->mem.base != X86_REG_RSP))
            return true;
    }
    return false;
}

/* True if the next instruction runs after this one, and nothing that is needed changes. */
static bool leaves_alone(csh decoder, const cs_insn *insn, const struct probe_needs *needs)
{
    static const unsigned int leaving[] = {CS_GRP_JUMP, CS_GRP_CALL, CS_GRP_RET,
                                           CS_GRP_INT,  CS_GRP_IRET, CS_GRP_PRIVILEGE};
    cs_regs read, written;
    uint8_t read_count, written_count;

    for (size_t i = 0; i < sizeof(leaving) / sizeof(leaving[0]); i++) {
        if (cs_insn_group(decoder, insn, leaving[i]))
            return false;
    }
    if (writes_memory(&insn->detail->x86, needs))
        return false;
    if (cs_regs_access(decoder, insn, read, &read_count, written, &written_count) != CS_ERR_OK)
        return false;
    for (int i = 0; i < written_count; i++) {
        if (is_needed(written[i], needs))
            return false;
    }
    return true;
}

/* True if a probe is cheap there. At the entry it may be on a nop of five bytes. Further on it may
 * not: on some kernels a probe on one does harm (capture/nop5.h). */
static bool is_cheap(const uint8_t *code, size_t size, bool at_entry,
                     const struct probe_needs *needs)
{
    enum trap trap = trap_of_code(code, size);

    return trap == TRAP_EMULATED || (trap == TRAP_NOP5 && at_entry && !needs->no_nop5);
}

/* The offset of the first cheap instruction, if all before it leave the needs alone; else 0. */
static size_t first_cheap(csh decoder, cs_insn *insn, const uint8_t *code, size_t size,
                          const struct probe_needs *needs)
{
    uint64_t address = 0;

    while (address < REACH && size > 0 && !is_cheap(code, size, address == 0, needs)) {
        if (!cs_disasm_iter(decoder, &code, &size, &address, insn) ||
            !leaves_alone(decoder, insn, needs))
            return 0;
    }
    return address < REACH && size > 0 ? address : 0;
}

/* The offset of the first instruction behind nops of five bytes; 0 if there are none. */
static size_t behind_nop5(const uint8_t *code, size_t size)
{
    size_t place = 0;

    while (place < size && trap_of_code(code + place, size - place) == TRAP_NOP5)
        place += NOP5_SIZE;
    return place < size ? place : 0;
}

/* True if a jump leads behind the entry, up to `place`, or if that is unknown. */
static bool has_jump_before(csh decoder, cs_insn *insn, const uint8_t *code, size_t size,
                            size_t place)
{
    uint64_t address = 0;

    while (size > 0) {
        const cs_x86_op *operand = &insn->detail->x86.operands[0];

        if (!cs_disasm_iter(decoder, &code, &size, &address, insn))
            return true;
        if (cs_insn_group(decoder, insn, CS_GRP_JUMP) && operand->type == X86_OP_IMM &&
            operand->imm > 0 && (uint64_t)operand->imm <= place)
            return true;
    }
    return false;
}

/* Like probe_place(). */
static size_t find_place(csh decoder, cs_insn *insn, const uint8_t *code, size_t size,
                         const struct probe_needs *needs)
{
    size_t place = first_cheap(decoder, insn, code, size, needs);

    if (!place && needs->no_nop5)
        place = behind_nop5(code, size);
    return place && !has_jump_before(decoder, insn, code, size, place) ? place : 0;
}

size_t probe_place(const uint8_t *code, size_t size, const struct probe_needs *needs)
{
    size_t place = 0;
    cs_insn *insn;
    csh decoder;

    if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder) != CS_ERR_OK)
        return 0;
    cs_option(decoder, CS_OPT_DETAIL, CS_OPT_ON);
    insn = cs_malloc(decoder);
    if (insn) {
        place = find_place(decoder, insn, code, size, needs);
        cs_free(insn, 1);
    }
    cs_close(&decoder);
    return place;
}

uint64_t probe_place_of(const struct elf_file *file, uint64_t address,
                        const struct probe_needs *needs)
{
    uint64_t start, end, place = 0;
    uint8_t *code;

    if (!native_function_find(file, address, &start, &end) || start != address || end <= start ||
        end - start > FUNCTION_MAX)
        return address;
    code = xmalloc(end - start);
    if (native_code_read(file, start, code, end - start))
        place = probe_place(code, end - start, needs);
    free(code);
    return address + place;
}
