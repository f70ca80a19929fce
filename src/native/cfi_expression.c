// SPDX-License-Identifier: Apache-2.0
#include "native/cfi_internal.h"

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

/* Operations with two operands. In DWARF, comparisons are signed and DW_OP_shra is arithmetic.
 * False for any other code. */
static bool combine(uint8_t code, uint64_t left, uint64_t right, uint64_t *result)
{
    int64_t signed_left = (int64_t)left;
    int64_t signed_right = (int64_t)right;

    switch (code) {
    case DW_OP_plus:
        *result = left + right;
        return true;
    case DW_OP_minus:
        *result = left - right;
        return true;
    case DW_OP_mul:
        *result = left * right;
        return true;
    case DW_OP_and:
        *result = left & right;
        return true;
    case DW_OP_or:
        *result = left | right;
        return true;
    case DW_OP_xor:
        *result = left ^ right;
        return true;
    case DW_OP_shl:
        *result = right < 64 ? left << right : 0;
        return true;
    case DW_OP_shr:
        *result = right < 64 ? left >> right : 0;
        return true;
    case DW_OP_shra:
        *result = shift_right_signed(left, right < 64 ? right : 63);
        return true;
    case DW_OP_eq:
        *result = left == right;
        return true;
    case DW_OP_ne:
        *result = left != right;
        return true;
    case DW_OP_lt:
        *result = signed_left < signed_right;
        return true;
    case DW_OP_le:
        *result = signed_left <= signed_right;
        return true;
    case DW_OP_gt:
        *result = signed_left > signed_right;
        return true;
    case DW_OP_ge:
        *result = signed_left >= signed_right;
        return true;
    }
    return false;
}

static bool binary(struct stack *stack, uint8_t code)
{
    uint64_t *left;

    if (stack->used < 2)
        return false;
    left = &stack->words[stack->used - 2];
    if (!combine(code, *left, left[1], left))
        return false;
    stack->used--;
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
