// SPDX-License-Identifier: Apache-2.0
#include "arch/instruction.h"

register_set instruction_written(const struct instruction *instruction)
{
    register_set written = instruction->unknown;

    for (unsigned int i = 0; i < instruction->count; i++) {
        const struct operand *to = &instruction->assignments[i].to;

        if (to->kind == OPERAND_REGISTER)
            written |= REGISTER_BIT(to->reg);
    }
    return written;
}

uint64_t instruction_target(const struct instruction *instruction)
{
    return instruction->target.kind == OPERAND_NUMBER ? (uint64_t)instruction->target.number : 0;
}
