// SPDX-License-Identifier: Apache-2.0
#include "arch/stack_steps.h"

#include <stdlib.h>

#include "arch/decoder.h"
#include "util/alloc.h"

enum {
    CODE_BYTES_MAX = 4 << 20,
    DEPTH_BYTES_MAX = 1 << 23, /* more than a function can allocate */
    WORD_BYTES = 8,
};

/* The register in which call_light_bif_shared takes an Export (x86/instr_bif.cpp
 * emit_call_light_bif), and that with the scheduler's registers. */
static const enum cpu_register EXPORT = CPU_RCX, SCHEDULER_REGISTERS = CPU_RBX;

struct step_reader {
    const struct stack_code *code;
    uint64_t export;              /* see stack_code.target */
    enum branch_condition before; /* of the preceding instruction, if it is a branch */
    bool returns_here;            /* the preceding instruction stored a return address */
    bool pauses_here;             /* the preceding instruction put an address into JIT_RETURN */
};

/* ---- the stack pointer ---- */

static void move_by(int64_t bytes, struct stack_step *step)
{
    if (bytes % WORD_BYTES || bytes > DEPTH_BYTES_MAX || bytes < -DEPTH_BYTES_MAX)
        step->flags |= STEP_UNKNOWN;
    else
        step->words += (int32_t)(bytes / WORD_BYTES);
}

/* "lea rsp, [rbx - N]" switches to the stack of the scheduler thread. rbx points to the scheduler's
 * registers, which are next to that stack. "mov rsp, rbp" and "mov rsp, [r13 + stop]" switch back
 * to the Erlang stack (x86/beam_asm.hpp emit_enter_runtime,
 * emit_leave_runtime 25.2.3:618, 27.3.4.1:622, 29.1.1:700). */
static void set_stack_pointer(const struct assignment *assignment, struct stack_step *step)
{
    const struct operand *from = &assignment->from;

    if (operand_is_register(from, CPU_RSP) && !assignment->is_rounded)
        move_by(-assignment->plus, step);
    else if (operand_is_register(from, SCHEDULER_REGISTERS))
        step->flags |= STEP_ENTERS;
    else if ((operand_is_register(from, JIT_E_SAVED) && !assignment->plus) ||
             (from->kind == OPERAND_MEMORY && from->reg == JIT_C_P && from->index == NO_REGISTER))
        step->flags |= STEP_LEAVES;
    else
        step->flags |= STEP_UNKNOWN;
}

/* Where the stacks are apart, C code leaves the stack pointer alone. "mov rbp, [r13 + stop]" takes
 * it back if C code may have moved the stack, whose depth is the same then. */
static void set_apart(const struct assignment *assignment, struct stack_step *step)
{
    const struct operand *from = &assignment->from;

    if (operand_is_register(from, JIT_E_SAVED) && !assignment->is_rounded)
        move_by(-assignment->plus, step);
    else if (from->kind != OPERAND_MEMORY || from->reg != JIT_C_P || from->index != NO_REGISTER)
        step->flags |= STEP_UNKNOWN;
}

/* Read what an instruction does to the Erlang stack pointer, which is in the register `pointer`. */
static void read_pointer(const struct instruction *instruction, enum cpu_register pointer,
                         void (*set)(const struct assignment *assignment, struct stack_step *step),
                         struct stack_step *step)
{
    for (unsigned int i = 0; i < instruction->count; i++)
        if (operand_is_register(&instruction->assignments[i].to, pointer))
            set(&instruction->assignments[i], step);
    if (registers_have(instruction->unknown, pointer))
        step->flags |= STEP_UNKNOWN;
    if (step->flags & STEP_UNKNOWN)
        step->words = 0;
}

static void read_stack_pointer(const struct instruction *instruction, bool native_stack,
                               struct stack_step *step)
{
    if (!native_stack)
        read_pointer(instruction, JIT_E_SAVED, set_apart, step);
    else if (instruction->frees_frame)
        step->flags |= STEP_AFTER_ZERO;
    else
        read_pointer(instruction, CPU_RSP, set_stack_pointer, step);
}

/* ---- calls and jumps ---- */

static enum stack_target target_of(const struct step_reader *reader,
                                   const struct instruction *instruction)
{
    return reader->code->target(reader->code->context, instruction_target(instruction),
                                reader->export);
}

static void read_call(const struct step_reader *reader, const struct instruction *instruction,
                      struct stack_step *step)
{
    bool raises = instruction->target.kind == OPERAND_NUMBER &&
                  target_of(reader, instruction) == STACK_TARGET_NO_WAY_BACK;

    step->flags |= raises ? STEP_RAISES : STEP_GOES_ON;
}

/* "jmp [rax + r12 * 8]", with r12 the active code index, and "jmp reg" leave the function through
 * an Export or a fun. "jmp [table + reg * 8]" selects a label of the function (x86/instr_call.cpp,
 * x86/instr_select.cpp emit_i_jump_on_val). */
static void read_computed_jump(const struct operand *target, struct stack_step *step)
{
    if (target->kind == OPERAND_REGISTER ||
        (target->kind == OPERAND_MEMORY && target->index == JIT_ACTIVE_CODE_IX))
        step->flags |= STEP_AT_ZERO | STEP_JUMPS_OUT;
}

static void read_jump(const struct step_reader *reader, const struct instruction *instruction,
                      struct stack_step *step)
{
    bool is_branch = instruction->kind == INSTRUCTION_BRANCH;
    uint64_t offset = instruction_target(instruction) - reader->code->start;

    /* After "je", nothing runs after a "jne" (x86/instr_select.cpp, the last of some values). */
    if (reader->returns_here) {
        read_call(reader, instruction, step);
        return;
    }
    if (is_branch &&
        !(instruction->condition == CONDITION_NOT_EQUAL && reader->before == CONDITION_EQUAL))
        step->flags |= STEP_GOES_ON;
    if (instruction->target.kind != OPERAND_NUMBER) {
        read_computed_jump(&instruction->target, step);
        return;
    }
    if (offset < reader->code->size) {
        step->flags |= STEP_JUMPS;
        step->label = (uint32_t)offset;
        return;
    }
    switch (target_of(reader, instruction)) {
    case STACK_TARGET_FUNCTION:
        step->flags |= STEP_AT_ZERO | STEP_JUMPS_OUT;
        break;
    case STACK_TARGET_PAUSE:
        step->flags |= reader->pauses_here ? STEP_GOES_ON : STEP_AT_ZERO;
        break;
    case STACK_TARGET_NO_WAY_BACK:
        step->flags |= is_branch ? 0 : STEP_RAISES;
        break;
    case STACK_TARGET_OTHER:
        step->flags |= STEP_JUMPS_OUT;
        break;
    }
}

static void read_flow(const struct step_reader *reader, const struct instruction *instruction,
                      struct stack_step *step)
{
    switch ((enum instruction_kind)instruction->kind) {
    case INSTRUCTION_CALL:
        read_call(reader, instruction, step);
        break;
    case INSTRUCTION_RETURN:
        step->flags |= STEP_AT_ZERO;
        break;
    case INSTRUCTION_JUMP:
    case INSTRUCTION_BRANCH:
        read_jump(reader, instruction, step);
        break;
    case INSTRUCTION_TRAP:
        break;
    case INSTRUCTION_PLAIN:
    case INSTRUCTION_SYSTEM:
        step->flags |= STEP_GOES_ON;
        break;
    }
}

/* ---- handlers and Exports ---- */

/* "inc [r13 + N]" and "dec [r13 + N]" count the exception handlers of the process
 * (x86/instr_common.cpp emit_catch, emit_catch_end, emit_try_end, emit_try_case). */
static void read_handler(const struct instruction *instruction, struct stack_step *step)
{
    if (instruction->counts && instruction->assignments[0].to.reg == JIT_C_P)
        step->flags |= instruction->counts > 0 ? STEP_SETS_HANDLER : STEP_ENDS_HANDLER;
}

/* "mov [rbp], reg": a call where the stacks are apart. It stores the return address and jumps. A
 * return stores NIL there, which is a number (x86/beam_asm.hpp erlang_call 25.2.3:255). */
static void note_return_address(struct step_reader *reader, const struct instruction *instruction)
{
    const struct assignment *first = &instruction->assignments[0];
    bool apart = !reader->code->native_stack && instruction->count == 1;

    reader->returns_here = apart && first->to.kind == OPERAND_MEMORY &&
                           first->to.reg == JIT_E_SAVED && first->to.index == NO_REGISTER &&
                           !first->to.number && first->from.kind == OPERAND_REGISTER;
    /* erlang:yield/0 continues behind its jump (x86/instr_common.cpp emit_i_yield 25.2.3:2013). */
    reader->pauses_here =
        apart && operand_is_register(&first->to, JIT_RETURN) && first->from.kind == OPERAND_NUMBER;
}

static void note_export(struct step_reader *reader, const struct instruction *instruction)
{
    if (instruction->kind == INSTRUCTION_CALL)
        reader->export = 0;
    for (unsigned int i = 0; i < instruction->count; i++) {
        const struct assignment *assignment = &instruction->assignments[i];

        if (operand_is_register(&assignment->to, EXPORT) && assignment->to.size == WORD_BYTES)
            reader->export =
                assignment->from.kind == OPERAND_NUMBER ? (uint64_t)assignment->from.number : 0;
    }
}

static size_t read_all(struct step_reader *reader, struct stack_step **ret_steps)
{
    const struct stack_code *code = reader->code;
    struct code_bytes rest = {code->bytes, code->size, code->start};
    struct instruction instruction;
    size_t count = 0, room = 0;

    while (rest.size && decoder_next(code->decoder, &rest, &instruction)) {
        struct stack_step step = {.offset = (uint32_t)(instruction.address - code->start)};

        step.flags = instruction.is_padding ? STEP_PADDING : 0;
        read_stack_pointer(&instruction, code->native_stack, &step);
        read_flow(reader, &instruction, &step);
        read_handler(&instruction, &step);
        note_export(reader, &instruction);
        note_return_address(reader, &instruction);
        reader->before = (enum branch_condition)instruction.condition;
        *ret_steps = xgrow(*ret_steps, &room, count, sizeof(**ret_steps));
        (*ret_steps)[count++] = step;
    }
    return rest.size ? 0 : count;
}

size_t stack_steps_find(const struct stack_code *code, struct stack_step **ret_steps)
{
    struct step_reader reader = {.code = code};
    size_t count;

    *ret_steps = NULL;
    if (!code->size || code->size > CODE_BYTES_MAX)
        return 0;
    count = read_all(&reader, ret_steps);
    if (!count) {
        free(*ret_steps);
        *ret_steps = NULL;
    }
    return count;
}
