// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "arch/decoder.h"
#include "native/parser.h"

enum { START = 0x1000 };

/* Decode the first instruction of these bytes, which must be all of them. */
static struct instruction decode(const char *bytes, size_t size)
{
    struct code_bytes code = {(const uint8_t *)bytes, size, START};
    struct parser *parser = parser_here();
    struct decoder *decoder = parser_decoder(parser);
    struct instruction instruction;

    assert_true(decoder_next(decoder, &code, &instruction));
    decoder_free(decoder);
    parser_release(parser);
    assert_int_equal(code.size, 0);
    assert_int_equal(code.address, START + size);
    assert_int_equal(instruction.address, START);
    assert_int_equal(instruction.size, size);
    return instruction;
}

#define DECODE(bytes) decode(bytes, sizeof(bytes) - 1)

static void check_operand(const struct operand *operand, enum operand_kind kind, int reg,
                          int64_t number)
{
    assert_int_equal(operand->kind, kind);
    if (kind == OPERAND_REGISTER || kind == OPERAND_MEMORY)
        assert_int_equal(operand->reg, reg);
    if (kind == OPERAND_MEMORY)
        assert_int_equal(operand->index, NO_REGISTER);
    if (kind == OPERAND_MEMORY || kind == OPERAND_NUMBER)
        assert_int_equal(operand->number, number);
}

/* Check that assignment `at` is `to` = `from` + `plus`, both registers. */
static void check_sum(const struct instruction *instruction, unsigned int at, int to, int from,
                      int64_t plus)
{
    assert_true(at < instruction->count);
    check_operand(&instruction->assignments[at].to, OPERAND_REGISTER, to, 0);
    check_operand(&instruction->assignments[at].from, OPERAND_REGISTER, from, 0);
    assert_int_equal(instruction->assignments[at].plus, plus);
}

static void test_moves_are_assignments(void **state)
{
    struct instruction got = DECODE("\x48\x89\xfb"); /* mov rbx, rdi */

    (void)state;
    assert_int_equal(got.kind, INSTRUCTION_PLAIN);
    assert_int_equal(got.count, 1);
    check_sum(&got, 0, CPU_RBX, CPU_RDI, 0);
    assert_int_equal(got.assignments[0].to.size, 8);
    got = DECODE("\xbe\x01\x00\x00\x00"); /* mov esi, 1 */
    check_operand(&got.assignments[0].to, OPERAND_REGISTER, CPU_RSI, 0);
    check_operand(&got.assignments[0].from, OPERAND_NUMBER, 0, 1);
    assert_int_equal(got.assignments[0].to.size, 4);
    got = DECODE("\x48\x8b\x47\x10"); /* mov rax, [rdi + 16] */
    check_operand(&got.assignments[0].from, OPERAND_MEMORY, CPU_RDI, 16);
    got = DECODE("\x48\x8d\x43\xf8"); /* lea rax, [rbx - 8] */
    check_sum(&got, 0, CPU_RAX, CPU_RBX, -8);
    got = DECODE("\x48\x8d\x05\x10\x00\x00\x00"); /* lea rax, [rip + 16] */
    check_operand(&got.assignments[0].from, OPERAND_NUMBER, 0, START + 7 + 16);
}

static void test_stack_pointer_is_followed(void **state)
{
    struct instruction got = DECODE("\x41\x54"); /* push r12 */

    (void)state;
    assert_int_equal(got.count, 2);
    check_operand(&got.assignments[0].to, OPERAND_MEMORY, CPU_RSP, -8);
    check_operand(&got.assignments[0].from, OPERAND_REGISTER, CPU_R12, 0);
    check_sum(&got, 1, CPU_RSP, CPU_RSP, -8);
    got = DECODE("\x5d"); /* pop rbp */
    check_sum(&got, 0, CPU_RSP, CPU_RSP, 8);
    check_operand(&got.assignments[1].to, OPERAND_REGISTER, CPU_RBP, 0);
    check_operand(&got.assignments[1].from, OPERAND_MEMORY, CPU_RSP, -8);
    got = DECODE("\x48\x83\xec\x18"); /* sub rsp, 24 */
    check_sum(&got, 0, CPU_RSP, CPU_RSP, -24);
    got = DECODE("\xc9"); /* leave */
    assert_true(got.frees_frame);
    check_sum(&got, 0, CPU_RSP, CPU_RBP, 0);
    got = DECODE("\x48\x83\xe4\xf0"); /* and rsp, -16 */
    check_sum(&got, 0, CPU_RSP, CPU_RSP, 0);
    assert_true(got.assignments[0].is_rounded);
}

static void test_unsupported_results_become_unknown(void **state)
{
    struct instruction got = DECODE("\x48\x0f\xaf\xc7"); /* imul rax, rdi */

    (void)state;
    assert_int_equal(got.count, 0);
    assert_int_equal(got.unknown, REGISTER_BIT(CPU_RAX));
    got = DECODE("\xb4\x01"); /* mov ah, 1 */
    assert_int_equal(got.unknown, REGISTER_BIT(CPU_RAX));
    got = DECODE("\x48\xf7\xe7"); /* mul rdi */
    assert_int_equal(got.unknown, REGISTER_BIT(CPU_RAX) | REGISTER_BIT(CPU_RDX));
    got = DECODE("\x64\x48\x8b\x04\x25\x28\x00\x00\x00"); /* mov rax, fs:[40] */
    assert_int_equal(got.assignments[0].from.reg, OTHER_REGISTER);
    got = DECODE("\x48\x8b\x04\xc8"); /* mov rax, [rax + rcx * 8] */
    assert_int_equal(got.assignments[0].from.index, CPU_RCX);
    got = DECODE("\x49\xff\x45\x10"); /* inc qword [r13 + 16] */
    assert_int_equal(got.counts, 1);
    check_operand(&got.assignments[0].to, OPERAND_MEMORY, CPU_R13, 16);
    check_operand(&got.assignments[0].from, OPERAND_UNKNOWN, 0, 0);
    got = DECODE("\x48\x39\xf8"); /* cmp rax, rdi */
    assert_int_equal(got.count, 0);
    assert_int_equal(got.unknown, 0);
}

static void test_only_written_registers_change(void **state)
{
    struct instruction got = DECODE("\x5b"); /* pop rbx */

    (void)state;
    assert_int_equal(instruction_written(&got), REGISTER_BIT(CPU_RSP) | REGISTER_BIT(CPU_RBX));
    got = DECODE("\x31\xd2"); /* xor edx, edx */
    assert_int_equal(instruction_written(&got), REGISTER_BIT(CPU_RDX));
    check_operand(&got.assignments[0].from, OPERAND_NUMBER, 0, 0);
    got = DECODE("\x48\x87\xd8"); /* xchg rax, rbx */
    assert_int_equal(instruction_written(&got), REGISTER_BIT(CPU_RAX) | REGISTER_BIT(CPU_RBX));
}

static void test_kind_says_where_an_instruction_leads(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        enum instruction_kind kind;
        uint64_t target;
    } cases[] = {
        {"\xe8\x10\x00\x00\x00", 5, INSTRUCTION_CALL, START + 5 + 0x10},
        {"\xff\xd0", 2, INSTRUCTION_CALL, 0},                /* call rax */
        {"\xeb\xfe", 2, INSTRUCTION_JUMP, START},            /* jmp */
        {"\xff\xe0", 2, INSTRUCTION_JUMP, 0},                /* jmp rax */
        {"\x75\x10", 2, INSTRUCTION_BRANCH, START + 2 + 16}, /* jne */
        {"\xc3", 1, INSTRUCTION_RETURN, 0},                  /* ret */
        {"\x0f\x0b", 2, INSTRUCTION_TRAP, 0},                /* ud2 */
        {"\xcc", 1, INSTRUCTION_TRAP, 0},                    /* int3 */
        {"\xcd\x80", 2, INSTRUCTION_SYSTEM, 0},              /* int 0x80 */
        {"\x90", 1, INSTRUCTION_PLAIN, 0},                   /* nop */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct instruction got = decode(cases[i].bytes, cases[i].size);

        assert_int_equal(got.kind, cases[i].kind);
        assert_int_equal(instruction_target(&got), cases[i].target);
        assert_int_equal(got.is_padding, cases[i].kind == INSTRUCTION_PLAIN);
        assert_int_equal(got.condition, cases[i].kind == INSTRUCTION_BRANCH ? CONDITION_NOT_EQUAL
                                                                            : CONDITION_OTHER);
    }
}

static void test_jump_through_memory_has_its_address(void **state)
{
    struct instruction got = DECODE("\xff\x25\x10\x00\x00\x00"); /* jmp [rip + 16] */

    (void)state;
    check_operand(&got.target, OPERAND_MEMORY, NO_REGISTER, START + 6 + 16);
    got = DECODE("\x42\xff\x64\xe0\x08"); /* jmp [rax + r12 * 8 + 8] */
    assert_int_equal(got.target.reg, CPU_RAX);
    assert_int_equal(got.target.index, CPU_R12);
}

static void test_bytes_that_are_no_instruction_end_the_code(void **state)
{
    const uint8_t bytes[] = {0x90, 0x06};
    struct code_bytes code = {bytes, sizeof(bytes), START};
    struct parser *parser = parser_here();
    struct decoder *decoder = parser_decoder(parser);
    struct instruction instruction;

    (void)state;
    assert_true(decoder_next(decoder, &code, &instruction));
    assert_false(decoder_next(decoder, &code, &instruction));
    assert_int_equal(code.address, START + 1);
    code.size = 0;
    assert_false(decoder_next(decoder, &code, &instruction));
    decoder_free(decoder);
    parser_release(parser);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves_are_assignments),
        cmocka_unit_test(test_stack_pointer_is_followed),
        cmocka_unit_test(test_unsupported_results_become_unknown),
        cmocka_unit_test(test_only_written_registers_change),
        cmocka_unit_test(test_kind_says_where_an_instruction_leads),
        cmocka_unit_test(test_jump_through_memory_has_its_address),
        cmocka_unit_test(test_bytes_that_are_no_instruction_end_the_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
