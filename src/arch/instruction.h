// SPDX-License-Identifier: Apache-2.0
/*
 * Machine instructions, decoded as far as this program follows code: where an instruction leads,
 * and the values that it puts into registers and memory.
 *
 * An instruction is a short list of assignments. "push rbx" is: the word at rsp - 8 = rbx, then
 * rsp = rsp - 8. What is computed in any other way than by moving and adding a constant is an
 * unknown value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"

enum instruction_kind {
    INSTRUCTION_PLAIN,  /* the next instruction runs after it */
    INSTRUCTION_CALL,   /* of `target` */
    INSTRUCTION_JUMP,   /* to `target` */
    INSTRUCTION_BRANCH, /* to `target`, or to the next instruction */
    INSTRUCTION_RETURN,
    INSTRUCTION_TRAP,   /* ends the program: compilers put it where nothing can run */
    INSTRUCTION_SYSTEM, /* enters the kernel, or only the kernel may execute it */
};

/* The condition of a branch. */
enum branch_condition { CONDITION_OTHER, CONDITION_EQUAL, CONDITION_NOT_EQUAL };

enum operand_kind {
    OPERAND_UNKNOWN,
    OPERAND_NUMBER,   /* `number` */
    OPERAND_REGISTER, /* `reg` */
    OPERAND_MEMORY,   /* at `reg` + `index` * something + `number` */
};

/* Values of operand.reg and operand.index of memory, besides registers. */
enum {
    NO_REGISTER = CPU_REGISTERS,
    OTHER_REGISTER, /* a register that is not followed, or thread-local memory */
};

struct operand {
    uint8_t kind; /* enum operand_kind */
    uint8_t size; /* bytes of the register or memory */
    uint8_t reg, index;
    int64_t number;
};

/* `to` = `from` + `plus`. A register of 4 bytes gets zeros in its upper half. */
struct assignment {
    struct operand to, from;
    int64_t plus;
    uint8_t is_rounded; /* the sum is rounded down, to align the stack pointer */
};

enum { ASSIGNMENTS_MAX = 3 };

/* No field is a bool, because an answer of the process that decodes can have any value. */
struct instruction {
    uint64_t address;
    uint8_t size;          /* bytes */
    uint8_t kind;          /* enum instruction_kind */
    uint8_t condition;     /* enum branch_condition */
    int8_t counts;         /* 1, -1: adds this to memory; the sum counts as unknown */
    uint8_t is_padding;    /* does nothing */
    uint8_t frees_frame;   /* takes down the frame of a function that has a frame pointer */
    uint8_t count;         /* of assignments */
    struct operand target; /* a number, or where the address is taken from */
    register_set unknown;  /* registers that have unknown values after the assignments */
    struct assignment assignments[ASSIGNMENTS_MAX]; /* in order */
};

/* Bytes of an instruction with its assignments, without room for more of them. */
static inline size_t instruction_bytes(unsigned int assignments)
{
    return offsetof(struct instruction, assignments) + assignments * sizeof(struct assignment);
}

/* True if all fields have values that their users can rely on. An instruction can be sound and say
 * something else than the code. */
bool instruction_is_sound(const struct instruction *instruction);

/* Return the registers that the instruction writes. */
register_set instruction_written(const struct instruction *instruction);

/* Return the target of a call, jump or branch; 0 if it is computed, or for other instructions. */
uint64_t instruction_target(const struct instruction *instruction);

static inline bool operand_is_register(const struct operand *operand, enum cpu_register reg)
{
    return operand->kind == OPERAND_REGISTER && operand->reg == reg;
}
