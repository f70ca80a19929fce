// SPDX-License-Identifier: Apache-2.0
#include "os/stack_steps.h"

#include <capstone/capstone.h>
#include <stdlib.h>

#include "util/alloc.h"

enum {
    CODE_BYTES_MAX = 4 << 20,
    DEPTH_BYTES_MAX = 1 << 23, /* more than a function can allocate */
    WORD_BYTES = 8,
};

struct reader {
    const struct stack_code *code;
    csh decoder;
    uint64_t rcx;        /* see stack_code.target */
    unsigned int before; /* the preceding instruction (x86_insn of capstone) */
};

static bool is_register(const cs_x86_op *operand, x86_reg reg)
{
    return operand->type == X86_OP_REG && operand->reg == reg;
}

/* ---- the stack pointer ---- */

static bool writes_stack_pointer(const cs_insn *insn)
{
    const cs_x86 *x86 = &insn->detail->x86;

    return x86->op_count && is_register(&x86->operands[0], X86_REG_RSP) &&
           x86->operands[0].access & CS_AC_WRITE;
}

static bool moves_by(int64_t bytes, struct stack_step *step)
{
    if (bytes % WORD_BYTES || bytes > DEPTH_BYTES_MAX || bytes < -DEPTH_BYTES_MAX)
        return false;
    step->words = (int32_t)(bytes / WORD_BYTES);
    return true;
}

/* "lea rsp, [rbx - N]" switches to the stack of the scheduler thread. rbx points to the scheduler's
 * registers, which are next to that stack (x86/beam_asm.hpp emit_enter_runtime 25:618, 27:622,
 * 29:700). */
static bool loads_address(const cs_x86_op *from, struct stack_step *step)
{
    if (from->mem.index != X86_REG_INVALID)
        return false;
    if (from->mem.base == X86_REG_RBX) {
        step->flags |= STEP_ENTERS;
        return true;
    }
    return from->mem.base == X86_REG_RSP && moves_by(-from->mem.disp, step);
}

/* "mov rsp, rbp" and "mov rsp, [r13 + stop]" switch back to the Erlang stack
 * (emit_leave_runtime). */
static bool takes_back(const cs_x86_op *from, struct stack_step *step)
{
    if (!is_register(from, X86_REG_RBP) &&
        (from->type != X86_OP_MEM || from->mem.base != X86_REG_R13 ||
         from->mem.index != X86_REG_INVALID))
        return false;
    step->flags |= STEP_LEAVES;
    return true;
}

static bool moves_by_constant(const cs_insn *insn, struct stack_step *step)
{
    const cs_x86_op *from = &insn->detail->x86.operands[1];

    switch (insn->id) {
    case X86_INS_SUB:
        return from->type == X86_OP_IMM && moves_by(from->imm, step);
    case X86_INS_ADD:
        return from->type == X86_OP_IMM && moves_by(-from->imm, step);
    case X86_INS_LEA:
        return loads_address(from, step);
    case X86_INS_MOV:
        return takes_back(from, step);
    default:
        return false;
    }
}

static void read_stack_pointer(const cs_insn *insn, struct stack_step *step)
{
    switch (insn->id) {
    case X86_INS_PUSH:
    case X86_INS_PUSHFQ:
        step->words = 1;
        return;
    case X86_INS_POPFQ:
        step->words = -1;
        return;
    case X86_INS_LEAVE: /* of a frame with a frame pointer */
        step->flags |= STEP_AFTER_ZERO;
        return;
    default:
        break;
    }
    if (!writes_stack_pointer(insn))
        step->words = insn->id == X86_INS_POP ? -1 : 0;
    else if (!moves_by_constant(insn, step))
        step->flags |= STEP_UNKNOWN;
}

/* ---- calls and jumps ---- */

static enum stack_target target_of(const struct reader *reader, const cs_x86_op *operand)
{
    return reader->code->target(reader->code->context, (uint64_t)operand->imm, reader->rcx);
}

static void read_call(const struct reader *reader, const cs_x86_op *operand,
                      struct stack_step *step)
{
    bool raises =
        operand->type == X86_OP_IMM && target_of(reader, operand) == STACK_TARGET_NO_WAY_BACK;

    step->flags |= raises ? STEP_RAISES : STEP_GOES_ON;
}

/* "jmp [rax + r12 * 8]", with r12 the active code index, and "jmp reg" leave the function through
 * an Export or a fun. "jmp [table + reg * 8]" selects a label of the function (x86/instr_call.cpp,
 * x86/instr_select.cpp emit_i_jump_on_val). */
static void read_computed_jump(const cs_x86_op *operand, struct stack_step *step)
{
    if (operand->type == X86_OP_REG ||
        (operand->type == X86_OP_MEM && operand->mem.index == X86_REG_R12))
        step->flags |= STEP_AT_ZERO | STEP_JUMPS_OUT;
}

static void read_jump(const struct reader *reader, const cs_insn *insn, const cs_x86_op *operand,
                      struct stack_step *step)
{
    uint64_t offset = (uint64_t)operand->imm - reader->code->start;

    /* After "je", nothing runs after a "jne" (x86/instr_select.cpp, the last of some values). */
    if (insn->id != X86_INS_JMP && !(insn->id == X86_INS_JNE && reader->before == X86_INS_JE))
        step->flags |= STEP_GOES_ON;
    if (operand->type != X86_OP_IMM) {
        read_computed_jump(operand, step);
        return;
    }
    if (offset < reader->code->size) {
        step->flags |= STEP_JUMPS;
        step->label = (uint32_t)offset;
        return;
    }
    switch (target_of(reader, operand)) {
    case STACK_TARGET_FUNCTION:
        step->flags |= STEP_AT_ZERO | STEP_JUMPS_OUT;
        break;
    case STACK_TARGET_PAUSE:
        step->flags |= STEP_AT_ZERO;
        break;
    case STACK_TARGET_NO_WAY_BACK:
        step->flags |= insn->id == X86_INS_JMP ? STEP_RAISES : 0;
        break;
    case STACK_TARGET_OTHER:
        step->flags |= STEP_JUMPS_OUT;
        break;
    }
}

static void read_flow(const struct reader *reader, const cs_insn *insn, struct stack_step *step)
{
    const cs_x86_op *operand = &insn->detail->x86.operands[0];

    if (insn->id == X86_INS_CALL)
        read_call(reader, operand, step);
    else if (insn->id == X86_INS_RET)
        step->flags |= STEP_AT_ZERO;
    else if (cs_insn_group(reader->decoder, insn, CS_GRP_JUMP))
        read_jump(reader, insn, operand, step);
    else if (insn->id != X86_INS_UD2 && insn->id != X86_INS_HLT && insn->id != X86_INS_INT3)
        step->flags |= STEP_GOES_ON;
}

/* ---- handlers and rcx ---- */

/* "inc [r13 + N]" and "dec [r13 + N]" count the exception handlers of the process
 * (x86/instr_common.cpp emit_catch, emit_catch_end, emit_try_end, emit_try_case). */
static void read_handler(const cs_insn *insn, struct stack_step *step)
{
    const cs_x86_op *operand = &insn->detail->x86.operands[0];

    if ((insn->id != X86_INS_INC && insn->id != X86_INS_DEC) || operand->type != X86_OP_MEM ||
        operand->mem.base != X86_REG_R13)
        return;
    step->flags |= insn->id == X86_INS_INC ? STEP_SETS_HANDLER : STEP_ENDS_HANDLER;
}

static void note_rcx(struct reader *reader, const cs_insn *insn)
{
    const cs_x86 *x86 = &insn->detail->x86;

    if (insn->id == X86_INS_CALL)
        reader->rcx = 0;
    else if ((insn->id == X86_INS_MOV || insn->id == X86_INS_MOVABS) &&
             is_register(&x86->operands[0], X86_REG_RCX))
        reader->rcx = x86->operands[1].type == X86_OP_IMM ? (uint64_t)x86->operands[1].imm : 0;
}

static size_t read_all(struct reader *reader, cs_insn *insn, struct stack_step **ret_steps)
{
    const struct stack_code *code = reader->code;
    const uint8_t *bytes = code->bytes;
    uint64_t address = code->start;
    size_t left = code->size, count = 0, room = 0;

    while (left && cs_disasm_iter(reader->decoder, &bytes, &left, &address, insn)) {
        struct stack_step step = {.offset = (uint32_t)(insn->address - code->start)};

        step.flags = insn->id == X86_INS_NOP ? STEP_PADDING : 0;
        read_stack_pointer(insn, &step);
        read_flow(reader, insn, &step);
        read_handler(insn, &step);
        note_rcx(reader, insn);
        reader->before = insn->id;
        *ret_steps = xgrow(*ret_steps, &room, count, sizeof(**ret_steps));
        (*ret_steps)[count++] = step;
    }
    return left ? 0 : count;
}

size_t stack_steps_find(const struct stack_code *code, struct stack_step **ret_steps)
{
    struct reader reader = {.code = code};
    cs_insn *insn;
    size_t count;

    *ret_steps = NULL;
    if (!code->size || code->size > CODE_BYTES_MAX ||
        cs_open(CS_ARCH_X86, CS_MODE_64, &reader.decoder) != CS_ERR_OK)
        return 0;
    cs_option(reader.decoder, CS_OPT_DETAIL, CS_OPT_ON);
    insn = cs_malloc(reader.decoder);
    count = read_all(&reader, insn, ret_steps);
    cs_free(insn, 1);
    cs_close(&reader.decoder);
    if (!count) {
        free(*ret_steps);
        *ret_steps = NULL;
    }
    return count;
}
