// SPDX-License-Identifier: Apache-2.0
#include "os/cfi_expression.h"

#include <dwarf.h>

enum { STACK_SIZE = 16 };

struct stack {
    uint64_t words[STACK_SIZE];
    size_t used;
};

static bool push(struct stack *stack, uint64_t word)
{
    if (stack->used == STACK_SIZE)
        return false;
    stack->words[stack->used++] = word;
    return true;
}

/* In ISO C, a right shift of a negative number is implementation-defined. */
static uint64_t shift_right_signed(uint64_t word, uint64_t bits)
{
    uint64_t sign = word >> 63 && bits ? ~(UINT64_MAX >> bits) : 0;

    return word >> bits | sign;
}

/* Operations with two operands. In DWARF, comparisons are signed and DW_OP_shra is arithmetic. */
static uint64_t combine(uint8_t code, uint64_t left, uint64_t right)
{
    int64_t signed_left = (int64_t)left;
    int64_t signed_right = (int64_t)right;

    switch (code) {
    case DW_OP_plus:
        return left + right;
    case DW_OP_minus:
        return left - right;
    case DW_OP_mul:
        return left * right;
    case DW_OP_and:
        return left & right;
    case DW_OP_or:
        return left | right;
    case DW_OP_xor:
        return left ^ right;
    case DW_OP_shl:
        return right < 64 ? left << right : 0;
    case DW_OP_shr:
        return right < 64 ? left >> right : 0;
    case DW_OP_shra:
        return shift_right_signed(left, right < 64 ? right : 63);
    case DW_OP_eq:
        return left == right;
    case DW_OP_ne:
        return left != right;
    case DW_OP_lt:
        return signed_left < signed_right;
    case DW_OP_le:
        return signed_left <= signed_right;
    case DW_OP_gt:
        return signed_left > signed_right;
    default: /* DW_OP_ge: binary() refuses all others */
        return signed_left >= signed_right;
    }
}

static bool is_binary(uint8_t code)
{
    switch (code) {
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

static bool binary(struct stack *stack, uint8_t code)
{
    if (stack->used < 2 || !is_binary(code))
        return false;
    stack->used--;
    stack->words[stack->used - 1] =
        combine(code, stack->words[stack->used - 1], stack->words[stack->used]);
    return true;
}

static bool push_register(struct stack *stack, const struct cfi_op *op,
                          const struct cfi_registers *registers)
{
    return (registers->known >> op->reg & 1) &&
           push(stack, registers->value[op->reg] + (uint64_t)op->number);
}

static bool execute(struct stack *stack, const struct cfi_op *op, const struct cfi_frame *frame)
{
    uint64_t *top = stack->used ? &stack->words[stack->used - 1] : NULL;
    uint64_t below;

    switch (op->code) {
    case CFI_PUSH_NUMBER:
        return push(stack, (uint64_t)op->number);
    case CFI_PUSH_REGISTER:
        return push_register(stack, op, frame->registers);
    case DW_OP_call_frame_cfa:
        return push(stack, frame->cfa);
    case DW_OP_over:
        return stack->used >= 2 && push(stack, top[-1]);
    case DW_OP_dup:
        return top && push(stack, *top);
    }
    if (!top)
        return false;
    switch (op->code) {
    case DW_OP_drop:
        stack->used--;
        return true;
    case DW_OP_swap:
        if (stack->used < 2)
            return false;
        below = top[-1];
        top[-1] = *top;
        *top = below;
        return true;
    case DW_OP_deref:
        return frame->read(frame->context, *top, top);
    case DW_OP_plus_uconst:
        *top += (uint64_t)op->number;
        return true;
    case DW_OP_neg:
        *top = -*top;
        return true;
    case DW_OP_not:
        *top = ~*top;
        return true;
    }
    return binary(stack, op->code);
}

bool cfi_expression_evaluate(const struct cfi_op *ops, size_t count, const struct cfi_frame *frame,
                             uint64_t *result)
{
    struct stack stack = {.used = 0};

    for (size_t i = 0; i < count; i++) {
        if (!execute(&stack, &ops[i], frame))
            return false;
    }
    if (stack.used == 0)
        return false;
    *result = stack.words[stack.used - 1];
    return true;
}
