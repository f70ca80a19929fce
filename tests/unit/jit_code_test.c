// SPDX-License-Identifier: Apache-2.0
#include "arch/jit_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static const uint8_t stub[JIT_NIF_STUB_BYTES] = {
    0xeb, 0x1e, 0x66, 0x0f, 0x1f, 0x44, 0,    0, /* jmp dispatch; padding */
    1,    2,    3,    4,    5,    6,    7,    0, /* called */
    0x10, 0,    0,    0,    0,    0,    0,    0, /* module */
    8,    9,    10,   11,   12,   13,   14,   0, /* dirty */
    0x48, 0x8d, 0x15, 0xd1, 0xff, 0xff, 0xff,    /* lea rdx, [label] */
};

static void test_nif_stub_gives_its_functions(void **state)
{
    uint64_t called = 0, dirty = 0;

    (void)state;
    assert_true(jit_code_is_nif_stub(stub, &called, &dirty));
    assert_int_equal(called, 0x07060504030201);
    assert_int_equal(dirty, 0x0e0d0c0b0a0908);
}

static void test_other_code_is_no_nif_stub(void **state)
{
    static const struct {
        size_t at;
        uint8_t byte;
    } cases[] = {{32, 0x49}, {34, 0x0d}, {35, 0xd2}, {38, 0}};
    uint64_t called = 0, dirty = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint8_t bytes[sizeof(stub)];

        memcpy(bytes, stub, sizeof(bytes));
        bytes[cases[i].at] = cases[i].byte;
        assert_false(jit_code_is_nif_stub(bytes, &called, &dirty));
    }
    assert_int_equal(called, 0);
}

/* A jump over nearly 2 GB is no stub, without an overflow (make SAN=1). */
static void test_stub_with_a_far_label_is_no_nif_stub(void **state)
{
    uint64_t called = 0, dirty = 0;
    uint8_t bytes[sizeof(stub)];

    (void)state;
    memcpy(bytes, stub, sizeof(bytes));
    memcpy(bytes + 35, &(int32_t){INT32_MAX}, sizeof(int32_t));
    assert_false(jit_code_is_nif_stub(bytes, &called, &dirty));
}

static void test_first_restored_stack_pointer_counts(void **state)
{
    static const uint8_t from_process[] = {0x90, 0x49, 0x8b, 0x65, 0x50, 0x48, 0x89, 0xec};
    static const uint8_t from_rbp[] = {0x48, 0x89, 0xec, 0x49, 0x8b, 0x65, 0x50};
    static const uint8_t from_r12[] = {0x4c, 0x89, 0xe4};

    (void)state;
    assert_int_equal(jit_code_stack_after_call(from_process, sizeof(from_process), JIT_E_SAVED),
                     JIT_STACK_IN_PROCESS);
    assert_int_equal(jit_code_stack_after_call(from_rbp, sizeof(from_rbp), JIT_E_SAVED),
                     JIT_STACK_IN_REGISTER);
    assert_int_equal(jit_code_stack_after_call(from_rbp, sizeof(from_rbp), JIT_E_SAVED_24),
                     JIT_STACK_IN_PROCESS);
    assert_int_equal(jit_code_stack_after_call(from_r12, sizeof(from_r12), JIT_E_SAVED_24),
                     JIT_STACK_IN_REGISTER);
    assert_int_equal(jit_code_stack_after_call(from_r12, sizeof(from_r12), JIT_E_SAVED),
                     JIT_STACK_UNKNOWN);
    assert_int_equal(jit_code_stack_after_call(from_rbp, 2, JIT_E_SAVED), JIT_STACK_UNKNOWN);
}

/* BPF programs test the same instruction by its number. */
static void test_number_of_the_load_of_stop_is_its_bytes(void **state)
{
    static const uint8_t bytes[] = {0x49, 0x8b, 0x65, 0x50};
    uint32_t code;

    (void)state;
    memcpy(&code, bytes, sizeof(code));
    assert_int_equal(code & JIT_LOADS_STOP_MASK, JIT_LOADS_STOP);
    assert_int_equal(jit_code_stack_after_call(bytes, sizeof(bytes), JIT_E_SAVED),
                     JIT_STACK_IN_PROCESS);
}

/* Where the stacks are apart, the machine stack pointer comes back last. */
static void test_restored_top_of_a_stack_apart(void **state)
{
    static const uint8_t from_process[] = {0x90, 0x49, 0x8b, 0x6d, 0x58, 0x48, 0x8b, 0x63, 0x80};
    static const uint8_t in_register[] = {0x90, 0x48, 0x8b, 0x63, 0x80, 0x49, 0x8b, 0x6d, 0x58};
    uint32_t code;

    (void)state;
    assert_int_equal(jit_code_stack_apart_after_call(from_process, sizeof(from_process)),
                     JIT_STACK_IN_PROCESS);
    assert_int_equal(jit_code_stack_apart_after_call(in_register, sizeof(in_register)),
                     JIT_STACK_IN_REGISTER);
    assert_int_equal(jit_code_stack_apart_after_call(in_register, 3), JIT_STACK_UNKNOWN);
    memcpy(&code, from_process + 1, sizeof(code));
    assert_int_equal(code & JIT_LOADS_STOP_MASK, JIT_APART_LOADS_STOP);
}

/* A call where the stacks are apart has up to three bytes of padding behind it. Another return
 * address, another register or a jump without a stored return address is no call. */
static void test_call_on_a_stack_apart_has_its_target(void **state)
{
    enum { NEXT = 0x10000000 };
    /* lea r9, [rip + 12]; mov [rbp], r9; jmp NEXT - 3 + 0x100; nop */
    static const uint8_t near[JIT_APART_CALL_BYTES] = {
        0x4c, 0x8d, 0x0d, 0x0c, 0, 0, 0, 0x4c, 0x89, 0x4d, 0, 0xe9, 0, 1, 0, 0, 0x0f, 0x1f, 0};
    /* lea rax, [rip + 6]; mov [rbp], rax; jmp NEXT - 0x10 */
    static const uint8_t near_behind[JIT_APART_CALL_BYTES] = {
        0, 0, 0, 0, 0, 0, 0x48, 0x8d, 0x05, 0x06, 0, 0, 0, 0x48, 0x89, 0x45, 0, 0xeb, 0xf0};
    static const struct {
        size_t at;
        uint8_t byte;
    } others[] = {{3, 0x0b}, {9, 0x45}, {10, 8}, {11, 0xe8}, {0, 0x48}};
    uint64_t target = 0;

    (void)state;
    assert_true(jit_code_apart_call(near, NEXT, &target));
    assert_int_equal(target, NEXT - 3 + 0x100);
    assert_true(jit_code_apart_call(near_behind, NEXT, &target));
    assert_int_equal(target, NEXT - 0x10);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        uint8_t bytes[JIT_APART_CALL_BYTES];

        memcpy(bytes, near, sizeof(bytes));
        bytes[others[i].at] = others[i].byte;
        assert_false(jit_code_apart_call(bytes, NEXT, &target));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nif_stub_gives_its_functions),
        cmocka_unit_test(test_other_code_is_no_nif_stub),
        cmocka_unit_test(test_first_restored_stack_pointer_counts),
        cmocka_unit_test(test_number_of_the_load_of_stop_is_its_bytes),
        cmocka_unit_test(test_restored_top_of_a_stack_apart),
        cmocka_unit_test(test_call_on_a_stack_apart_has_its_target),
        cmocka_unit_test(test_stub_with_a_far_label_is_no_nif_stub),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
