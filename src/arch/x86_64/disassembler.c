// SPDX-License-Identifier: Apache-2.0
#include <capstone/capstone.h>
#include <stdlib.h>
#include <string.h>

#include "arch/disassembler.h"
#include "arch/instruction.h"
#include "util/alloc.h"

enum { WORD_BYTES = 8 };

/* The part of a general register that an instruction names. */
struct register_part {
    uint8_t reg;  /* enum cpu_register */
    uint8_t size; /* bytes; 0: not a general register */
};

static const struct register_part parts[X86_REG_ENDING] = {
#define PARTS(number, r64, r32, r16, r8)                                                           \
    [X86_REG_##r64] = {number, 8}, [X86_REG_##r32] = {number, 4}, [X86_REG_##r16] = {number, 2},   \
    [X86_REG_##r8] = {number, 1}
    PARTS(CPU_RAX, RAX, EAX, AX, AL),      PARTS(CPU_RCX, RCX, ECX, CX, CL),
    PARTS(CPU_RDX, RDX, EDX, DX, DL),      PARTS(CPU_RBX, RBX, EBX, BX, BL),
    PARTS(CPU_RSP, RSP, ESP, SP, SPL),     PARTS(CPU_RBP, RBP, EBP, BP, BPL),
    PARTS(CPU_RSI, RSI, ESI, SI, SIL),     PARTS(CPU_RDI, RDI, EDI, DI, DIL),
    PARTS(CPU_R8, R8, R8D, R8W, R8B),      PARTS(CPU_R9, R9, R9D, R9W, R9B),
    PARTS(CPU_R10, R10, R10D, R10W, R10B), PARTS(CPU_R11, R11, R11D, R11W, R11B),
    PARTS(CPU_R12, R12, R12D, R12W, R12B), PARTS(CPU_R13, R13, R13D, R13W, R13B),
    PARTS(CPU_R14, R14, R14D, R14W, R14B), PARTS(CPU_R15, R15, R15D, R15W, R15B),
#undef PARTS
    [X86_REG_AH] = {CPU_RAX, 1},           [X86_REG_CH] = {CPU_RCX, 1},
    [X86_REG_DH] = {CPU_RDX, 1},           [X86_REG_BH] = {CPU_RBX, 1},
};

struct disassembler {
    csh capstone;
    cs_insn *insn;
};

struct disassembler *disassembler_new(void)
{
    struct disassembler *disassembler = xcalloc(1, sizeof(*disassembler));

    if (cs_open(CS_ARCH_X86, CS_MODE_64, &disassembler->capstone) == CS_ERR_OK) {
        cs_option(disassembler->capstone, CS_OPT_DETAIL, CS_OPT_ON);
        disassembler->insn = cs_malloc(disassembler->capstone);
        if (disassembler->insn)
            return disassembler;
        cs_close(&disassembler->capstone);
    }
    free(disassembler);
    return NULL;
}

void disassembler_free(struct disassembler *disassembler)
{
    if (!disassembler)
        return;
    cs_free(disassembler->insn, 1);
    cs_close(&disassembler->capstone);
    free(disassembler);
}

/* ---- operands ---- */

static struct operand number(int64_t value)
{
    return (struct operand){.kind = OPERAND_NUMBER, .number = value};
}

static struct operand word_of(enum cpu_register reg)
{
    return (struct operand){.kind = OPERAND_REGISTER, .size = WORD_BYTES, .reg = (uint8_t)reg};
}

static struct operand memory_at(enum cpu_register base, int64_t offset)
{
    return (struct operand){.kind = OPERAND_MEMORY,
                            .size = WORD_BYTES,
                            .reg = (uint8_t)base,
                            .index = NO_REGISTER,
                            .number = offset};
}

/* A register of an address. */
static uint8_t address_register(x86_reg reg)
{
    if (reg == X86_REG_INVALID)
        return NO_REGISTER;
    return parts[reg].size >= 4 ? parts[reg].reg : OTHER_REGISTER;
}

static struct operand memory_of(const cs_insn *insn, const cs_x86_op *from)
{
    struct operand operand = {.kind = OPERAND_MEMORY,
                              .size = from->size,
                              .reg = address_register(from->mem.base),
                              .index = address_register(from->mem.index),
                              .number = from->mem.disp};

    if (from->mem.base == X86_REG_RIP) {
        operand.reg = NO_REGISTER;
        operand.number = (int64_t)(insn->address + insn->size + (uint64_t)from->mem.disp);
    }
    if (from->mem.segment != X86_REG_INVALID)
        operand.reg = OTHER_REGISTER;
    return operand;
}

static struct operand operand_of(const cs_insn *insn, const cs_x86_op *from)
{
    switch (from->type) {
    case X86_OP_REG:
        if (!parts[from->reg].size)
            return (struct operand){.kind = OPERAND_UNKNOWN};
        return (struct operand){
            .kind = OPERAND_REGISTER, .size = parts[from->reg].size, .reg = parts[from->reg].reg};
    case X86_OP_IMM:
        return number(from->imm);
    case X86_OP_MEM:
        return memory_of(insn, from);
    default:
        return (struct operand){.kind = OPERAND_UNKNOWN};
    }
}

/* ---- assignments ---- */

/* Append `to` = `from` + `plus`. Parts of a register below 4 bytes are not followed. */
static void assign(struct instruction *out, struct operand to, struct operand from, int64_t plus)
{
    if (to.kind == OPERAND_REGISTER && to.size < 4) {
        out->unknown |= REGISTER_BIT(to.reg);
        return;
    }
    if ((to.kind != OPERAND_REGISTER && to.kind != OPERAND_MEMORY) || out->count == ASSIGNMENTS_MAX)
        return;
    if (from.size && from.size < 4)
        from.kind = OPERAND_UNKNOWN;
    out->assignments[out->count++] = (struct assignment){.to = to, .from = from, .plus = plus};
}

/* Report what an unknown instruction writes as unknown. The first operand counts as written if it
 * is memory, whatever capstone reports. */
static void forget(const struct disassembler *disassembler, struct instruction *out)
{
    const cs_insn *insn = disassembler->insn;
    const cs_x86 *x86 = &insn->detail->x86;
    cs_regs read, written;
    uint8_t read_count, written_count;

    for (unsigned int i = 0; i < x86->op_count; i++)
        if (x86->operands[i].type == X86_OP_MEM &&
            (i == 0 || x86->operands[i].access & CS_AC_WRITE))
            assign(out, memory_of(insn, &x86->operands[i]), (struct operand){0}, 0);
    if (cs_regs_access(disassembler->capstone, insn, read, &read_count, written, &written_count) !=
        CS_ERR_OK)
        return;
    for (unsigned int i = 0; i < written_count; i++)
        if (parts[written[i]].size)
            out->unknown |= REGISTER_BIT(parts[written[i]].reg);
}

static void push(struct instruction *out, struct operand value)
{
    assign(out, memory_at(CPU_RSP, -WORD_BYTES), value, 0);
    assign(out, word_of(CPU_RSP), word_of(CPU_RSP), -WORD_BYTES);
}

static void pop(struct instruction *out, struct operand to)
{
    assign(out, word_of(CPU_RSP), word_of(CPU_RSP), WORD_BYTES);
    assign(out, to, memory_at(CPU_RSP, -WORD_BYTES), 0);
}

/* The address that "lea" computes, as a value. */
static void load_address(struct instruction *out, struct operand to, struct operand memory)
{
    struct operand from = {.kind = OPERAND_UNKNOWN};

    if (memory.reg == OTHER_REGISTER || memory.index != NO_REGISTER)
        assign(out, to, from, 0);
    else if (memory.reg == NO_REGISTER)
        assign(out, to, number(memory.number), 0);
    else
        assign(out, to, word_of((enum cpu_register)memory.reg), memory.number);
}

static void add_or_subtract(const struct disassembler *disassembler, struct instruction *out)
{
    const cs_insn *insn = disassembler->insn;
    const cs_x86_op *to = &insn->detail->x86.operands[0], *from = &insn->detail->x86.operands[1];
    struct operand sum = operand_of(insn, to);

    if (from->type != X86_OP_IMM)
        forget(disassembler, out);
    else
        assign(out, sum, sum,
               insn->id == X86_INS_ADD ? from->imm : (int64_t)(0 - (uint64_t)from->imm));
}

static bool is_same_register(const cs_x86_op *a, const cs_x86_op *b)
{
    return a->type == X86_OP_REG && b->type == X86_OP_REG && a->reg == b->reg;
}

/* An "and" of rsp aligns the stack pointer. */
static void align(const struct disassembler *disassembler, struct instruction *out)
{
    const cs_x86_op *to = disassembler->insn->detail->x86.operands;

    if (to->type != X86_OP_REG || to->reg != X86_REG_RSP) {
        forget(disassembler, out);
        return;
    }
    assign(out, word_of(CPU_RSP), word_of(CPU_RSP), 0);
    out->assignments[0].is_rounded = true;
}

static void count(const struct disassembler *disassembler, struct instruction *out, int8_t by)
{
    forget(disassembler, out);
    if (disassembler->insn->detail->x86.operands[0].type == X86_OP_MEM)
        out->counts = by;
}

/* Add the assignments of an instruction that is no jump or call. */
static void compute(const struct disassembler *disassembler, struct instruction *out)
{
    const cs_insn *insn = disassembler->insn;
    const cs_x86_op *operands = insn->detail->x86.operands;

    switch (insn->id) {
    case X86_INS_MOV:
    case X86_INS_MOVABS:
        assign(out, operand_of(insn, &operands[0]), operand_of(insn, &operands[1]), 0);
        return;
    case X86_INS_LEA:
        load_address(out, operand_of(insn, &operands[0]), memory_of(insn, &operands[1]));
        return;
    case X86_INS_PUSH:
        push(out, operand_of(insn, &operands[0]));
        return;
    case X86_INS_PUSHFQ:
        push(out, (struct operand){.kind = OPERAND_UNKNOWN});
        return;
    case X86_INS_POP:
        pop(out, operand_of(insn, &operands[0]));
        return;
    case X86_INS_POPFQ:
        pop(out, (struct operand){.kind = OPERAND_UNKNOWN});
        return;
    case X86_INS_LEAVE:
        out->frees_frame = true;
        assign(out, word_of(CPU_RSP), word_of(CPU_RBP), 0);
        pop(out, word_of(CPU_RBP));
        return;
    case X86_INS_XOR:
    case X86_INS_SUB:
        if (is_same_register(&operands[0], &operands[1]))
            assign(out, operand_of(insn, &operands[0]), number(0), 0);
        else if (insn->id == X86_INS_SUB)
            add_or_subtract(disassembler, out);
        else
            forget(disassembler, out);
        return;
    case X86_INS_ADD:
        add_or_subtract(disassembler, out);
        return;
    case X86_INS_AND:
        align(disassembler, out);
        return;
    case X86_INS_INC:
        count(disassembler, out, 1);
        return;
    case X86_INS_DEC:
        count(disassembler, out, -1);
        return;
    case X86_INS_NOP:
        out->is_padding = true;
        return;
    case X86_INS_CMP:
    case X86_INS_TEST:
    case X86_INS_ENDBR64:
        return;
    default:
        forget(disassembler, out);
    }
}

/* ---- where it leads ---- */

static enum instruction_kind kind_of(const cs_insn *insn)
{
    const cs_detail *detail = insn->detail;

    if (insn->id == X86_INS_UD2 || insn->id == X86_INS_INT3 || insn->id == X86_INS_HLT)
        return INSTRUCTION_TRAP;
    for (unsigned int i = 0; i < detail->groups_count; i++) {
        switch (detail->groups[i]) {
        case CS_GRP_RET:
            return INSTRUCTION_RETURN;
        case CS_GRP_CALL:
            return INSTRUCTION_CALL;
        case CS_GRP_JUMP:
            return insn->id == X86_INS_JMP ? INSTRUCTION_JUMP : INSTRUCTION_BRANCH;
        case CS_GRP_INT:
        case CS_GRP_IRET:
        case CS_GRP_PRIVILEGE:
            return INSTRUCTION_SYSTEM;
        default:
            break;
        }
    }
    return INSTRUCTION_PLAIN;
}

static enum branch_condition condition_of(const cs_insn *insn)
{
    if (insn->id == X86_INS_JE)
        return CONDITION_EQUAL;
    return insn->id == X86_INS_JNE ? CONDITION_NOT_EQUAL : CONDITION_OTHER;
}

/* Decode the first instruction, and move `code` behind it. False if the bytes are none. */
static bool decode(struct disassembler *disassembler, struct code_bytes *code,
                   struct instruction *instruction)
{
    const cs_insn *insn = disassembler->insn;

    if (!cs_disasm_iter(disassembler->capstone, &code->bytes, &code->size, &code->address,
                        disassembler->insn))
        return false;
    memset(instruction, 0, sizeof(*instruction));
    instruction->address = insn->address;
    instruction->size = (uint8_t)insn->size;
    instruction->kind = kind_of(insn);
    switch (instruction->kind) {
    case INSTRUCTION_CALL:
    case INSTRUCTION_JUMP:
    case INSTRUCTION_BRANCH:
        instruction->condition = condition_of(insn);
        instruction->target = operand_of(insn, &insn->detail->x86.operands[0]);
        break;
    case INSTRUCTION_PLAIN:
    case INSTRUCTION_SYSTEM:
        compute(disassembler, instruction);
        break;
    default:
        break;
    }
    return true;
}

void disassemble(struct disassembler *disassembler, struct code_bytes code, size_t size_max,
                 struct buffer *answer)
{
    struct instruction instruction;

    while (answer->size + sizeof(instruction) <= size_max &&
           decode(disassembler, &code, &instruction))
        buffer_put(answer, &instruction, instruction_bytes(instruction.count));
}
