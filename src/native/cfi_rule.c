// SPDX-License-Identifier: Apache-2.0
#include "native/cfi_internal.h"

/* ---- trust ---- */

static const struct cfi_op *ops_of(const struct cfi_rule *rule)
{
    return (const struct cfi_op *)(rule->places + rule->place_count);
}

static bool is_sound_place(const struct cfi_rule *rule, const struct cfi_place *place)
{
    if (place->reg >= CPU_REGISTERS)
        return false;
    switch ((enum cfi_place_kind)place->kind) {
    case PLACE_AT_CFA:
    case PLACE_CFA:
        return true;
    case PLACE_REGISTER:
        return place->value >= 0 && place->value < CPU_REGISTERS;
    case PLACE_AT_EXPRESSION:
    case PLACE_EXPRESSION:
        return place->value >= 0 && place->value <= rule->op_count &&
               place->op_count <= rule->op_count - place->value;
    }
    return false;
}

bool cfi_rule_is_sound(const struct cfi_rule *rule, size_t size)
{
    if (size < sizeof(*rule) || rule->place_count > CPU_REGISTERS || rule->op_count > CFI_OPS_MAX ||
        size != sizeof(*rule) + rule->place_count * sizeof(rule->places[0]) +
                    rule->op_count * sizeof(struct cfi_op) ||
        rule->cfa_ops > rule->op_count || rule->cfa_register >= CPU_REGISTERS)
        return false;
    for (int i = 0; i < rule->place_count; i++)
        if (!is_sound_place(rule, &rule->places[i]))
            return false;
    for (int i = 0; i < rule->op_count; i++)
        if (ops_of(rule)[i].reg >= CPU_REGISTERS)
            return false;
    return true;
}

/* ---- application ---- */

static bool is_known(const struct cfi_registers *registers, int reg)
{
    return registers_have(registers->known, (unsigned int)reg);
}

static void set(struct cfi_registers *registers, int reg, uint64_t value)
{
    registers->value[reg] = value;
    registers->known |= REGISTER_BIT(reg);
}

static bool find_cfa(const struct cfi_rule *rule, struct cfi_frame *frame)
{
    if (rule->cfa_ops > 0)
        return cfi_expression_evaluate(ops_of(rule), rule->cfa_ops, frame, &frame->cfa);
    if (!is_known(frame->registers, rule->cfa_register))
        return false;
    frame->cfa = frame->registers->value[rule->cfa_register] + (uint64_t)(int64_t)rule->cfa_offset;
    return true;
}

/* Read a saved register. In an epilogue, the slot of a register that was already popped is below
 * the stack pointer, where nothing is captured: the register keeps its value. */
static bool read_saved(const struct cfi_frame *frame, int reg, uint64_t address, uint64_t *value)
{
    const struct cfi_registers *registers = frame->registers;

    if (frame->read(frame->context, address, value))
        return true;
    if (reg == CPU_PC || !is_known(registers, reg) || !is_known(registers, CPU_SP) ||
        address >= registers->value[CPU_SP])
        return false;
    *value = registers->value[reg];
    return true;
}

static bool recover(const struct cfi_rule *rule, const struct cfi_place *place,
                    const struct cfi_frame *frame, uint64_t *value)
{
    uint64_t address;

    switch ((enum cfi_place_kind)place->kind) {
    case PLACE_AT_CFA:
        return read_saved(frame, place->reg, frame->cfa + (uint64_t)(int64_t)place->value, value);
    case PLACE_CFA:
        *value = frame->cfa + (uint64_t)(int64_t)place->value;
        return true;
    case PLACE_REGISTER:
        *value = frame->registers->value[place->value];
        return is_known(frame->registers, place->value);
    case PLACE_AT_EXPRESSION:
        return cfi_expression_evaluate(ops_of(rule) + place->value, place->op_count, frame,
                                       &address) &&
               read_saved(frame, place->reg, address, value);
    case PLACE_EXPRESSION:
        return cfi_expression_evaluate(ops_of(rule) + place->value, place->op_count, frame, value);
    }
    return false;
}

enum cfi_result cfi_rule_apply(const struct cfi_rule *rule, struct cfi_registers *registers,
                               cfi_read_word read, void *context)
{
    struct cfi_frame frame = {.registers = registers, .read = read, .context = context};
    struct cfi_registers caller = *registers;
    uint64_t value;

    if (rule->is_outermost)
        return CFI_END;
    if (!find_cfa(rule, &frame))
        return CFI_NO_STACK;
    caller.known &= rule->same;
    caller.exact_pc = rule->is_signal;
    for (int i = 0; i < rule->place_count; i++) {
        const struct cfi_place *place = &rule->places[i];

        if (recover(rule, place, &frame, &value))
            set(&caller, place->reg, value);
    }
    if (!is_known(&caller, CPU_PC) || !is_known(&caller, CPU_SP))
        return CFI_NO_STACK;
    if (caller.value[CPU_PC] == 0)
        return CFI_END;
    *registers = caller;
    return CFI_STEPPED;
}
