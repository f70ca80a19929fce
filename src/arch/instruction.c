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

/* ---- instructions that are not trusted ---- */

static bool is_register_size(uint8_t size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}

static bool operand_is_sound(const struct operand *operand)
{
    if (operand->reg > OTHER_REGISTER || operand->index > OTHER_REGISTER)
        return false;
    switch (operand->kind) {
    case OPERAND_UNKNOWN:
    case OPERAND_NUMBER:
    case OPERAND_MEMORY:
        return true;
    case OPERAND_REGISTER:
        return operand->reg < CPU_REGISTERS && is_register_size(operand->size);
    default:
        return false;
    }
}

static bool assignment_is_sound(const struct assignment *assignment)
{
    return operand_is_sound(&assignment->to) && operand_is_sound(&assignment->from) &&
           (assignment->to.kind == OPERAND_REGISTER || assignment->to.kind == OPERAND_MEMORY) &&
           assignment->plus != INT64_MIN && assignment->is_rounded <= 1;
}

bool instruction_is_sound(const struct instruction *instruction)
{
    if (!instruction->size || instruction->size > CPU_INSTRUCTION_BYTES_MAX ||
        instruction->kind > INSTRUCTION_SYSTEM || instruction->condition > CONDITION_NOT_EQUAL ||
        instruction->counts < -1 || instruction->counts > 1 || instruction->is_padding > 1 ||
        instruction->frees_frame > 1 || instruction->count > ASSIGNMENTS_MAX ||
        (instruction->counts && !instruction->count) || instruction->unknown & ~REGISTERS_ALL ||
        !operand_is_sound(&instruction->target))
        return false;
    for (unsigned int i = 0; i < instruction->count; i++)
        if (!assignment_is_sound(&instruction->assignments[i]))
            return false;
    return true;
}
