// SPDX-License-Identifier: Apache-2.0
#include "arch/code_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { START = 0x1000 };

static void test_calls_are_found_at_any_byte(void **state)
{
    static const uint8_t bytes[] = {0x90, 0xe8, 0x0a, 0,    0,    0,    0x55,
                                    0xe8, 0xf4, 0xff, 0xff, 0xff, 0xe8, 0};
    const struct code_bytes code = {bytes, sizeof(bytes), START};
    uint64_t target = 0;
    size_t at = 0;

    (void)state;
    assert_true(code_bytes_next_call(&code, &at, &target));
    assert_int_equal(at, 1);
    assert_int_equal(target, START + 6 + 10);
    at++;
    assert_true(code_bytes_next_call(&code, &at, &target));
    assert_int_equal(at, 7);
    assert_int_equal(target, START);
    at++;
    assert_false(code_bytes_next_call(&code, &at, &target)); /* the last one is cut off */
}

static void test_literal_call_gives_the_address_of_its_word(void **state)
{
    static const uint8_t bytes[] = {0xff, 0xd0, 0xff, 0x15, 0x20, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0};
    const struct code_bytes code = {bytes, sizeof(bytes), START};
    uint64_t word = 0;
    size_t at = 0;

    (void)state;
    assert_true(code_bytes_next_literal_call(&code, &at, &word));
    assert_int_equal(at, 2);
    assert_int_equal(word, START + 8 + 0x20);
    at++;
    assert_false(code_bytes_next_literal_call(&code, &at, &word)); /* that is a jump */
}

static void test_jump_may_have_a_prefix(void **state)
{
    static const uint8_t plain[] = {0xe9, 0x20, 0, 0, 0, 0x90};
    static const uint8_t prefixed[] = {0x40, 0xe9, 0x20, 0, 0, 0};
    static const uint8_t call[] = {0xe8, 0x20, 0, 0, 0, 0x90};
    uint64_t target = 0;

    (void)state;
    assert_true(code_bytes_jump(&(struct code_bytes){plain, sizeof(plain), START}, &target));
    assert_int_equal(target, START + 5 + 0x20);
    assert_true(code_bytes_jump(&(struct code_bytes){prefixed, sizeof(prefixed), START}, &target));
    assert_int_equal(target, START + 6 + 0x20);
    assert_false(code_bytes_jump(&(struct code_bytes){call, sizeof(call), START}, &target));
    assert_false(code_bytes_jump(&(struct code_bytes){prefixed, 5, START}, &target));
    assert_false(code_bytes_jump(&(struct code_bytes){plain, 0, START}, &target));
}

static void test_plt_stub_jumps_through_its_word(void **state)
{
    static const uint8_t stub[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0x30, 0, 0, 0};
    static const uint8_t header[] = {0xff, 0x35, 0x30, 0, 0, 0};
    uint64_t word = 0;

    (void)state;
    assert_true(code_bytes_plt_stub(&(struct code_bytes){stub, sizeof(stub), START}, &word));
    assert_int_equal(word, START + 10 + 0x30);
    assert_false(code_bytes_plt_stub(&(struct code_bytes){header, sizeof(header), START}, &word));
}

static void test_references_are_calls_jumps_and_addresses(void **state)
{
    static const uint8_t bytes[] = {0xe9, 0x10, 0,    0,    0,    0x90, 0x4c, 0x8d, 0x25, 0x20, 0,
                                    0,    0,    0x48, 0x8d, 0x44, 0x24, 8, /* lea rax, [rsp + 8] */
                                    0xe8, 0,    0,    0,    0,    0x48, 0x8d, 0x05, 0,    0,    0};
    static const struct code_reference found[] = {
        {START + 5 + 0x10, REFERENCE_JUMP},
        {START + 13 + 0x20, REFERENCE_ADDRESS},
        {START + 23, REFERENCE_CALL},
    };
    const struct code_bytes code = {bytes, sizeof(bytes), START};
    struct code_reference reference;
    size_t at = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++, at++) {
        assert_true(code_bytes_next_reference(&code, &at, &reference));
        assert_int_equal(reference.target, found[i].target);
        assert_int_equal(reference.kind, found[i].kind);
    }
    assert_false(code_bytes_next_reference(&code, &at, &reference)); /* the last one is cut off */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_are_found_at_any_byte),
        cmocka_unit_test(test_literal_call_gives_the_address_of_its_word),
        cmocka_unit_test(test_jump_may_have_a_prefix),
        cmocka_unit_test(test_plt_stub_jumps_through_its_word),
        cmocka_unit_test(test_references_are_calls_jumps_and_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
