// SPDX-License-Identifier: Apache-2.0
#include "elf/cfi_tables.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>

#include "elf/elf_limits.h"
#include "elf/function_table.h"
#include "elf/sections.h"
#include "util/alloc.h"

/* ---- expressions ---- */

static bool compile_one(const Dwarf_Op *op, struct cfi_op *out)
{
    *out = (struct cfi_op){.code = op->atom, .number = (int64_t)op->number};
    if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
        out->code = CFI_PUSH_NUMBER;
        out->number = op->atom - DW_OP_lit0;
        return true;
    }
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
        out->code = CFI_PUSH_REGISTER;
        out->reg = (uint8_t)(op->atom - DW_OP_breg0);
        return out->reg < CPU_REGISTERS;
    }
    switch (op->atom) {
    case DW_OP_bregx:
        out->reg = (uint8_t)op->number;
        out->number = (int64_t)op->number2;
        return op->number < CPU_REGISTERS;
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts:
        out->code = CFI_PUSH_NUMBER;
        return true;
    case DW_OP_call_frame_cfa:
    case DW_OP_plus_uconst:
    case DW_OP_deref:
    case DW_OP_dup:
    case DW_OP_drop:
    case DW_OP_over:
    case DW_OP_swap:
    case DW_OP_neg:
    case DW_OP_not:
    case DW_OP_plus:
    case DW_OP_minus:
    case DW_OP_mul:
    case DW_OP_and:
    case DW_OP_or:
    case DW_OP_xor:
    case DW_OP_shl:
    case DW_OP_shr:
    case DW_OP_shra:
    case DW_OP_eq:
    case DW_OP_ne:
    case DW_OP_lt:
    case DW_OP_le:
    case DW_OP_gt:
    case DW_OP_ge:
        return true;
    }
    return false;
}

bool cfi_tables_compile_expression(const Dwarf_Op *ops, size_t count, struct cfi_op *compiled)
{
    for (size_t i = 0; i < count; i++) {
        if (!compile_one(&ops[i], &compiled[i]))
            return false;
    }
    return true;
}

/* ---- rules ---- */

/* A rule under construction. */
struct draft {
    struct cfi_rule rule;
    struct cfi_place places[CPU_REGISTERS];
    struct cfi_op ops[CFI_OPS_MAX];
};

/* Append an expression. False if it is too long or has an unsupported operation. */
static bool add_expression(struct draft *draft, const Dwarf_Op *ops, size_t count)
{
    if (count > sizeof(draft->ops) / sizeof(draft->ops[0]) - draft->rule.op_count)
        return false;
    if (!cfi_tables_compile_expression(ops, count, draft->ops + draft->rule.op_count))
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
static bool locate(struct draft *draft, struct cfi_place *place, const Dwarf_Op *ops, size_t count)
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
    struct cfi_place *place = &draft->places[draft->rule.place_count];
    Dwarf_Op memory[3];
    Dwarf_Op *ops;
    size_t count;

    if (dwarf_frame_register(frame, reg, memory, &ops, &count) != 0)
        return;
    if (count == 0) {
        draft->rule.same |= cpu.preserved & REGISTER_BIT(reg);
        draft->rule.is_outermost |= reg == (int)cpu.return_column && ops;
        return;
    }
    *place = (struct cfi_place){.reg = (uint8_t)reg};
    if (locate(draft, place, ops, count))
        draft->rule.place_count++;
}

/* True if the rule gives the return address or marks the outermost frame. Without a return address,
 * the pc would stay the same for ever. */
static bool is_useful(const struct draft *draft)
{
    for (int i = 0; i < draft->rule.place_count; i++) {
        if (draft->places[i].reg == cpu.return_column)
            return true;
    }
    return draft->rule.is_outermost;
}

static void append(const struct draft *draft, struct buffer *to)
{
    buffer_put(to, &draft->rule, sizeof(draft->rule));
    buffer_put(to, draft->places, draft->rule.place_count * sizeof(draft->places[0]));
    buffer_put(to, draft->ops, draft->rule.op_count * sizeof(draft->ops[0]));
}

/* Append the rule of one table. False if it has none. */
static bool compile(Dwarf_CFI *table, uint64_t pc, struct buffer *rule)
{
    struct draft draft = {0};
    bool found = false, is_signal;
    Dwarf_Addr start, end;
    Dwarf_Frame *frame;

    if (!table || dwarf_cfi_addrframe(table, pc, &frame) != 0)
        return false;
    if (dwarf_frame_info(frame, &start, &end, &is_signal) == (int)cpu.return_column &&
        add_cfa(&draft, frame)) {
        /* `start` is too low after DW_CFA_restore_state (execute_cfi() in libdw/cfi.c of
         * elfutils-0.188). */
        draft.rule.end = end;
        draft.rule.is_signal = is_signal;
        for (int reg = 0; reg < CPU_REGISTERS; reg++)
            add_register(&draft, frame, reg);
        found = is_useful(&draft);
    }
    if (found)
        append(&draft, rule);
    free(frame);
    return found;
}

/* ---- the tables of a file ---- */

struct cfi_tables {
    Dwarf_CFI *eh_frame;
    Dwarf *dwarf;
    Dwarf_CFI *debug_frame;          /* owned by dwarf */
    struct function_table functions; /* of no function if it is not known */
};

/* dwarf_begin_elf() reads all sections of debug information, which can be hundreds of megabytes. So
 * call it only for files with a .debug_frame. */
static bool has_debug_frame(Elf *elf)
{
    GElf_Shdr header;

    return elf_section_find(elf, ".debug_frame", &header) != NULL;
}

static void find_functions(struct cfi_tables *tables, Elf *elf)
{
    GElf_Shdr header;
    Elf_Scn *section = elf_section_find(elf, ".eh_frame_hdr", &header);
    const Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

    if (!data || !data->d_buf ||
        !function_table_read(&tables->functions, data->d_buf, data->d_size, header.sh_addr))
        tables->functions.count = 0;
}

struct cfi_tables *cfi_tables_new(Elf *elf)
{
    struct cfi_tables *tables = xcalloc(1, sizeof(*tables));
    GElf_Ehdr header;

    if (!gelf_getehdr(elf, &header) || header.e_machine != cpu.elf)
        return tables;
    tables->eh_frame = dwarf_getcfi_elf(elf);
    find_functions(tables, elf);
    if (has_debug_frame(elf) && elf_limits_fit_debug(elf)) {
        tables->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
        tables->debug_frame = tables->dwarf ? dwarf_getcfi(tables->dwarf) : NULL;
    }
    return tables;
}

void cfi_tables_free(struct cfi_tables *tables)
{
    if (!tables)
        return;
    dwarf_cfi_end(tables->eh_frame);
    dwarf_end(tables->dwarf);
    free(tables);
}

void cfi_tables_rule(struct cfi_tables *tables, uint64_t pc, struct buffer *rule)
{
    if (!compile(tables->eh_frame, pc, rule))
        compile(tables->debug_frame, pc, rule);
}

uint64_t cfi_tables_function(const struct cfi_tables *tables, uint64_t pc)
{
    size_t until = function_table_until(&tables->functions, pc);

    return until ? function_table_start(&tables->functions, until - 1) : pc;
}
