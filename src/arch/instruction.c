// SPDX-License-Identifier: Apache-2.0
#include "arch/instruction.h"

uint32_t instruction_written(const struct instruction *instruction)
{
    uint32_t written = instruction->unknown;

    for (unsigned int i = 0; i < instruction->count; i++) {
        const struct operand *to = &instruction->assignments[i].to;

        if (to->kind == OPERAND_REGISTER)
            written |= 1u << to->reg;
    }
    return written;
}

uint64_t instruction_target(const struct instruction *instruction)
{
    return instruction->target.kind == OPERAND_NUMBER ? (uint64_t)instruction->target.number : 0;
}
