// SPDX-License-Identifier: Apache-2.0
#include "os/tail_jumps.h"

#include <capstone/capstone.h>

static void look_at(csh decoder, const cs_insn *insn, uint64_t start, uint64_t end,
                    code_exit_visit visit, void *context)
{
    const cs_x86_op *operand = &insn->detail->x86.operands[0];
    uint64_t target;

    if (!cs_insn_group(decoder, insn, CS_GRP_JUMP) || operand->type != X86_OP_IMM)
        return;
    target = (uint64_t)operand->imm;
    if (target < start || target >= end)
        visit(context, target);
}

void tail_jumps(const uint8_t *code, size_t size, uint64_t start, code_exit_visit visit,
                void *context)
{
    uint64_t end = start + size, address = start;
    csh decoder;
    cs_insn *insn;

    if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder) != CS_ERR_OK)
        return;
    cs_option(decoder, CS_OPT_DETAIL, CS_OPT_ON);
    insn = cs_malloc(decoder);
    while (cs_disasm_iter(decoder, &code, &size, &address, insn))
        look_at(decoder, insn, start, end, visit, context);
    cs_free(insn, 1);
    cs_close(&decoder);
}
