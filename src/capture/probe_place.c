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
};

/* Of the arguments, and rsp. */
static bool is_passed(unsigned int reg)
{
    switch (reg) {
    case X86_REG_RDI:
    case X86_REG_EDI:
    case X86_REG_DI:
    case X86_REG_DIL:
    case X86_REG_RSI:
    case X86_REG_ESI:
    case X86_REG_SI:
    case X86_REG_SIL:
    case X86_REG_RDX:
    case X86_REG_EDX:
    case X86_REG_DX:
    case X86_REG_DL:
    case X86_REG_DH:
    case X86_REG_RCX:
    case X86_REG_ECX:
    case X86_REG_CX:
    case X86_REG_CL:
    case X86_REG_CH:
    case X86_REG_R8:
    case X86_REG_R8D:
    case X86_REG_R8W:
    case X86_REG_R8B:
    case X86_REG_R9:
    case X86_REG_R9D:
    case X86_REG_R9W:
    case X86_REG_R9B:
    case X86_REG_RSP:
    case X86_REG_ESP:
    case X86_REG_SP:
    case X86_REG_SPL:
        return true;
    default:
        return false;
    }
}

/* The instruction goes on to the next one, and changes nothing that was passed. */
static bool leaves_alone(csh decoder, const cs_insn *insn)
{
    static const unsigned int leaving[] = {CS_GRP_JUMP, CS_GRP_CALL, CS_GRP_RET,
                                           CS_GRP_INT,  CS_GRP_IRET, CS_GRP_PRIVILEGE};
    const cs_x86 *x86 = &insn->detail->x86;
    cs_regs read, written;
    uint8_t read_count, written_count;

    for (size_t i = 0; i < sizeof(leaving) / sizeof(leaving[0]); i++) {
        if (cs_insn_group(decoder, insn, leaving[i]))
            return false;
    }
    for (int i = 0; i < x86->op_count; i++) {
        if (x86->operands[i].type == X86_OP_MEM && (x86->operands[i].access & CS_AC_WRITE))
            return false;
    }
    if (cs_regs_access(decoder, insn, read, &read_count, written, &written_count) != CS_ERR_OK)
        return false;
    for (int i = 0; i < written_count; i++) {
        if (is_passed(written[i]))
            return false;
    }
    return true;
}

static bool is_cheap(const uint8_t *code, size_t size)
{
    enum trap trap = trap_of_code(code, size);

    return trap == TRAP_EMULATED || trap == TRAP_NOP5;
}

/* The first cheap instruction that can be reached only as said; 0 if there is none. */
static size_t first_cheap(csh decoder, cs_insn *insn, const uint8_t *code, size_t size)
{
    uint64_t address = 0;

    while (address < REACH && size > 0 && !is_cheap(code, size)) {
        if (!cs_disasm_iter(decoder, &code, &size, &address, insn) || !leaves_alone(decoder, insn))
            return 0;
    }
    return address < REACH && size > 0 ? address : 0;
}

/* Whether a jump leads to behind the entry, up to `place`; also where that can't be told. */
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

size_t probe_place(const uint8_t *code, size_t size)
{
    size_t place = 0;
    cs_insn *insn;
    csh decoder;

    if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder) != CS_ERR_OK)
        return 0;
    cs_option(decoder, CS_OPT_DETAIL, CS_OPT_ON);
    insn = cs_malloc(decoder);
    if (insn)
        place = first_cheap(decoder, insn, code, size);
    if (place && has_jump_before(decoder, insn, code, size, place))
        place = 0;
    if (insn)
        cs_free(insn, 1);
    cs_close(&decoder);
    return place;
}

uint64_t probe_place_of(const struct elf_file *file, uint64_t address)
{
    uint64_t start, end, place = 0;
    uint8_t *code;

    if (!native_function_find(file, address, &start, &end) || start != address || end <= start ||
        end - start > FUNCTION_MAX)
        return address;
    code = xmalloc(end - start);
    if (native_code_read(file, start, code, end - start))
        place = probe_place(code, end - start);
    free(code);
    return address + place;
}
