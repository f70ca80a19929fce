// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dwarf.h>

#include "native/cfi_internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MEMORY_AT = 0x1000 };

/* One word of memory, at MEMORY_AT. */
static bool read_word(void *context, uint64_t address, uint64_t *word)
{
    if (address != MEMORY_AT)
        return false;
    *word = *(const uint64_t *)context;
    return true;
}

/* Compile and evaluate with rsp = 0x7000, rip = 0x200b and CFA = 0x9000; all other registers are
 * unknown. */
static bool evaluate(const Dwarf_Op *ops, size_t count, uint64_t *result)
{
    static uint64_t word = 0xfeed;
    static const struct cfi_registers registers = {
        .value = {[CPU_RSP] = 0x7000, [CPU_RIP] = 0x200b},
        .known = 1u << CPU_RSP | 1u << CPU_RIP,
    };
    const struct cfi_frame frame = {
        .registers = &registers,
        .cfa = 0x9000,
        .read = read_word,
        .context = &word,
    };
    struct cfi_op compiled[64];

    return cfi_tables_compile_expression(ops, count, compiled) &&
           cfi_expression_evaluate(compiled, count, &frame, result);
}

/* The expression that binutils give PLT stubs: rsp + 8, plus 8 from the 11th byte of the stub on
 * (bfd/elf64-x86-64.c, elf_x86_64_eh_frame_lazy_plt). */
static void test_expression_of_plt_stubs_gives_their_cfa(void **state)
{
    static const Dwarf_Op ops[] = {
        {.atom = DW_OP_breg7, .number = 8},
        {.atom = DW_OP_breg16},
        {.atom = DW_OP_lit15},
        {.atom = DW_OP_and},
        {.atom = DW_OP_lit11},
        {.atom = DW_OP_ge},
        {.atom = DW_OP_lit3},
        {.atom = DW_OP_shl},
        {.atom = DW_OP_plus},
    };
    uint64_t cfa = 0;

    (void)state;
    assert_true(evaluate(ops, COUNT(ops), &cfa));
    assert_int_equal(cfa, 0x7010);
}

static const struct {
    uint8_t code;
    int64_t left, right, result;
} operations[] = {
    {DW_OP_plus, 2, 3, 5},         {DW_OP_minus, 2, 3, -1}, {DW_OP_mul, -2, 3, -6},
    {DW_OP_and, 6, 3, 2},          {DW_OP_or, 6, 3, 7},     {DW_OP_xor, 6, 3, 5},
    {DW_OP_shl, 1, 63, INT64_MIN}, {DW_OP_shl, 1, 64, 0},   {DW_OP_shr, -1, 63, 1},
    {DW_OP_shr, -1, 64, 0},        {DW_OP_shra, -8, 1, -4}, {DW_OP_shra, -8, 999, -1},
    {DW_OP_eq, 3, 3, 1},           {DW_OP_ne, 3, 3, 0},     {DW_OP_lt, -1, 0, 1},
    {DW_OP_le, 0, 0, 1},           {DW_OP_gt, 0, -1, 1},    {DW_OP_ge, -1, 0, 0},
    {DW_OP_swap, 4, 5, 4},         {DW_OP_drop, 4, 5, 4},   {DW_OP_over, 4, 5, 4},
};

/* Operations on two operands, with signs and shifts beyond the width as DWARF defines them. */
static void test_operations_on_two_operands_give_their_dwarf_result(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(operations); i++) {
        const Dwarf_Op ops[] = {
            {.atom = DW_OP_consts, .number = (Dwarf_Word)operations[i].left},
            {.atom = DW_OP_const8s, .number = (Dwarf_Word)operations[i].right},
            {.atom = operations[i].code},
        };
        uint64_t result = 99;

        assert_true(evaluate(ops, COUNT(ops), &result));
        assert_int_equal(result, (uint64_t)operations[i].result);
        /* One operand is too few. */
        assert_false(evaluate(ops + 1, COUNT(ops) - 1, &result));
    }
}

/* Registers, the CFA, memory and operations on one operand. */
static void test_expression_reads_registers_cfa_and_memory(void **state)
{
    static const Dwarf_Op ops[] = {
        {.atom = DW_OP_call_frame_cfa},
        {.atom = DW_OP_bregx, .number = CPU_RSP, .number2 = (Dwarf_Word)-0x6000},
        {.atom = DW_OP_deref}, /* 0xfeed */
        {.atom = DW_OP_plus_uconst, .number = 1},
        {.atom = DW_OP_dup},
        {.atom = DW_OP_neg},
        {.atom = DW_OP_not},   /* 0xfeed again */
        {.atom = DW_OP_minus}, /* 1 */
        {.atom = DW_OP_plus},
    };
    uint64_t result = 0;

    (void)state;
    assert_true(evaluate(ops, COUNT(ops), &result));
    assert_int_equal(result, 0x9001);
}

/* Unavailable or unsupported operands and operations fail, and no result is written. */
static void test_unsupported_operations_fail_without_a_result(void **state)
{
    static const Dwarf_Op failing[] = {
        {.atom = DW_OP_breg0},                       /* rax is unknown */
        {.atom = DW_OP_breg31},                      /* no such register */
        {.atom = DW_OP_bregx, .number = UINT64_MAX}, /* nor this */
        {.atom = DW_OP_plus},
        {.atom = DW_OP_dup},
        {.atom = DW_OP_drop},
        {.atom = DW_OP_swap},
        {.atom = DW_OP_deref},
        {.atom = DW_OP_neg},
        {.atom = DW_OP_over},
        {.atom = DW_OP_skip},
        {.atom = DW_OP_bra},
        {.atom = DW_OP_div},
        {.atom = DW_OP_call4},
        {.atom = DW_OP_piece},
        {.atom = 0xff},
    };
    static const Dwarf_Op unreadable[] = {{.atom = DW_OP_lit0}, {.atom = DW_OP_deref}};
    uint64_t result = 99;

    (void)state;
    for (size_t i = 0; i < COUNT(failing); i++)
        assert_false(evaluate(&failing[i], 1, &result));
    assert_false(evaluate(unreadable, COUNT(unreadable), &result));
    assert_false(evaluate(NULL, 0, &result));
    assert_int_equal(result, 99);
}

/* The stack of an expression is bounded. */
static void test_expression_that_needs_a_deep_stack_fails(void **state)
{
    Dwarf_Op ops[64];
    uint64_t result;

    (void)state;
    for (size_t i = 0; i < COUNT(ops); i++)
        ops[i] = (Dwarf_Op){.atom = DW_OP_lit1};
    assert_true(evaluate(ops, 16, &result));
    assert_false(evaluate(ops, 17, &result));
    assert_false(evaluate(ops, COUNT(ops), &result));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expression_of_plt_stubs_gives_their_cfa),
        cmocka_unit_test(test_operations_on_two_operands_give_their_dwarf_result),
        cmocka_unit_test(test_expression_reads_registers_cfa_and_memory),
        cmocka_unit_test(test_unsupported_operations_fail_without_a_result),
        cmocka_unit_test(test_expression_that_needs_a_deep_stack_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
