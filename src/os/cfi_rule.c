// SPDX-License-Identifier: Apache-2.0
#include "os/cfi_rule.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/cpu.h"
#include "os/cfi_expression.h"
#include "util/alloc.h"

enum place_kind {
    PLACE_AT_CFA,        /* in memory at CFA + value */
    PLACE_CFA,           /* CFA + value itself */
    PLACE_REGISTER,      /* in register `value` */
    PLACE_AT_EXPRESSION, /* in memory at the result of the expression */
    PLACE_EXPRESSION,    /* the result of the expression */
};

/* The place of the caller's value of one register. */
struct place {
    uint8_t reg;
    uint8_t kind;
    uint16_t op_count; /* of an expression that begins at ops[value] */
    int32_t value;
};

struct cfi_rule {
    bool is_signal;    /* the caller was interrupted by a signal; it made no call */
    bool is_outermost; /* the return address is undefined */
    uint8_t place_count;
    uint16_t op_count;
    register_set same;    /* those that already have the caller's value */
    uint8_t cfa_register; /* CFA = register + cfa_offset, unless: */
    uint16_t cfa_ops;     /* > 0: CFA = the expression ops[0 ... cfa_ops) */
    int32_t cfa_offset;
    struct cfi_op *ops; /* ops and places are in this allocation */
    struct place places[];
};

/* A rule under construction. */
struct draft {
    struct cfi_rule rule;
    struct place places[CPU_REGISTERS];
    struct cfi_op ops[256];
};

/* Append an expression. False if it is too long or has an unsupported operation. */
static bool add_expression(struct draft *draft, const Dwarf_Op *ops, size_t count)
{
    if (count > sizeof(draft->ops) / sizeof(draft->ops[0]) - draft->rule.op_count)
        return false;
    if (!cfi_expression_compile(ops, count, draft->ops + draft->rule.op_count))
        return false;
    draft->rule.op_count += (uint16_t)count;
    return true;
}

static bool fits(Dwarf_Word number)
{
    return (int64_t)number == (int32_t)number;
}

/* Add the CFA of dwarf_frame_cfa(): a register with an offset, or any expression. */
static bool add_cfa(struct draft *draft, Dwarf_Frame *frame)
{
    Dwarf_Op *ops;
    size_t count;

    if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count == 0)
        return false;
    if (count == 1 && ops->atom == DW_OP_bregx && ops->number < CPU_REGISTERS &&
        fits(ops->number2)) {
        draft->rule.cfa_register = (uint8_t)ops->number;
        draft->rule.cfa_offset = (int32_t)ops->number2;
        return true;
    }
    draft->rule.cfa_ops = (uint16_t)count;
    return add_expression(draft, ops, count);
}

/* True for "CFA" and "CFA + offset", the form in which dwarf_frame_register() returns simple
 * rules. */
static bool is_cfa_offset(const Dwarf_Op *ops, size_t count, int32_t *offset)
{
    if (count < 1 || count > 2 || ops[0].atom != DW_OP_call_frame_cfa)
        return false;
    if (count == 2 && (ops[1].atom != DW_OP_plus_uconst || !fits(ops[1].number)))
        return false;
    *offset = count == 2 ? (int32_t)ops[1].number : 0;
    return true;
}

/* Fill the kind, value and op_count of a place. False if the location is not supported. */
static bool locate(struct draft *draft, struct place *place, const Dwarf_Op *ops, size_t count)
{
    bool is_value = ops[count - 1].atom == DW_OP_stack_value;

    if (count == 1 && ops->atom == DW_OP_regx && ops->number < CPU_REGISTERS) {
        place->kind = PLACE_REGISTER;
        place->value = (int32_t)ops->number;
        return true;
    }
    count -= is_value;
    if (is_cfa_offset(ops, count, &place->value)) {
        place->kind = is_value ? PLACE_CFA : PLACE_AT_CFA;
        return true;
    }
    place->kind = is_value ? PLACE_EXPRESSION : PLACE_AT_EXPRESSION;
    place->value = draft->rule.op_count;
    place->op_count = (uint16_t)count;
    return add_expression(draft, ops, count);
}

/* A register with an unsupported location counts as unknown. A register without a location has the
 * caller's value if functions preserve it; else it is unknown. An undefined return
 * address marks the outermost frame. */
static void add_register(struct draft *draft, Dwarf_Frame *frame, int reg)
{
    struct place *place = &draft->places[draft->rule.place_count];
    Dwarf_Op memory[3];
    Dwarf_Op *ops;
    size_t count;

    if (dwarf_frame_register(frame, reg, memory, &ops, &count) != 0)
        return;
    if (count == 0) {
        draft->rule.same |= cpu.preserved & REGISTER_BIT(reg);
        draft->rule.is_outermost |= reg == CPU_PC && ops;
        return;
    }
    *place = (struct place){.reg = (uint8_t)reg};
    if (locate(draft, place, ops, count))
        draft->rule.place_count++;
}

/* True if the rule gives the return address or marks the outermost frame. Without a return address,
 * the pc would stay the same for ever. */
static bool is_useful(const struct draft *draft)
{
    for (int i = 0; i < draft->rule.place_count; i++) {
        if (draft->places[i].reg == CPU_PC)
            return true;
    }
    return draft->rule.is_outermost;
}

static struct cfi_rule *finish(const struct draft *draft)
{
    size_t places_size = draft->rule.place_count * sizeof(draft->places[0]);
    size_t ops_size = draft->rule.op_count * sizeof(draft->ops[0]);
    struct cfi_rule *rule = xmalloc(sizeof(*rule) + places_size + ops_size);

    *rule = draft->rule;
    rule->ops = (struct cfi_op *)((char *)(rule + 1) + places_size);
    memcpy(rule->places, draft->places, places_size);
    memcpy(rule->ops, draft->ops, ops_size);
    return rule;
}

struct cfi_rule *cfi_rule_compile(Dwarf_CFI *table, uint64_t pc)
{
    struct draft draft = {0};
    struct cfi_rule *rule = NULL;
    Dwarf_Addr start, end;
    Dwarf_Frame *frame;

    if (dwarf_cfi_addrframe(table, pc, &frame) != 0)
        return NULL;
    if (dwarf_frame_info(frame, &start, &end, &draft.rule.is_signal) == CPU_PC &&
        add_cfa(&draft, frame)) {
        for (int reg = 0; reg < CPU_REGISTERS; reg++)
            add_register(&draft, frame, reg);
        if (is_useful(&draft))
            rule = finish(&draft);
    }
    free(frame);
    return rule;
}

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
        return cfi_expression_evaluate(rule->ops, rule->cfa_ops, frame, &frame->cfa);
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

static bool recover(const struct cfi_rule *rule, const struct place *place,
                    const struct cfi_frame *frame, uint64_t *value)
{
    uint64_t address;

    switch ((enum place_kind)place->kind) {
    case PLACE_AT_CFA:
        return read_saved(frame, place->reg, frame->cfa + (uint64_t)(int64_t)place->value, value);
    case PLACE_CFA:
        *value = frame->cfa + (uint64_t)(int64_t)place->value;
        return true;
    case PLACE_REGISTER:
        *value = frame->registers->value[place->value];
        return is_known(frame->registers, place->value);
    case PLACE_AT_EXPRESSION:
        return cfi_expression_evaluate(rule->ops + place->value, place->op_count, frame,
                                       &address) &&
               read_saved(frame, place->reg, address, value);
    case PLACE_EXPRESSION:
        return cfi_expression_evaluate(rule->ops + place->value, place->op_count, frame, value);
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
        const struct place *place = &rule->places[i];

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
