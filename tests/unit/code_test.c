// SPDX-License-Identifier: Apache-2.0
/* What is known of an address of code: its function, its line, and what follows a call. */
#include "code_node.h"

/* An address has the function, the file and the last line that starts at or before it. */
static void test_address_has_its_function_file_and_line(void **state)
{
    struct code_place place;
    struct node node;

    (void)state;
    open_node(&node);
    assert_true(code_find(node.code, node.base + 0x84, &place));
    assert_string_equal(place.symbol, "m:first/1");
    assert_string_equal(place.file, "m.erl");
    assert_int_equal(place.line, 11);
    assert_int_equal(place.kind, CODE_FUNCTION);
    assert_int_equal(place.start, node.base + 0x40);
    assert_int_equal(place.end, node.base + 0x100);
    assert_true(code_find(node.code, node.base + 0x7f, &place));
    assert_int_equal(place.line, 10);
    assert_true(code_find(node.code, node.base + 0x100, &place));
    assert_string_equal(place.symbol, "m:other/0");
    assert_int_equal(place.line, 0);
    assert_string_equal(place.file, "");
    close_node(&node);
}

/* Headers of modules and shared fragments are distinguished from functions; other addresses are not
 * code. */
static void test_headers_and_fragments_are_no_functions(void **state)
{
    struct code_place place;
    struct node node;

    (void)state;
    open_node(&node);
    assert_true(code_find(node.code, node.base, &place));
    assert_int_equal(place.kind, CODE_HEADER);
    assert_true(code_find(node.code, node.global + 0x84, &place));
    assert_int_equal(place.kind, CODE_FRAGMENT);
    assert_int_equal(place.fragment, FRAGMENT_GARBAGE_COLLECT);
    assert_true(code_find(node.code, node.global, &place));
    assert_int_equal(place.fragment, FRAGMENT_CALL_BIF);
    assert_true(code_find(node.code, node.base + 0x84, &place));
    assert_int_equal(place.fragment, FRAGMENT_NONE);
    assert_true(code_find_fragment(node.code, "global::garbage_collect", &place));
    assert_int_equal(place.start, node.global + 0x80);
    assert_false(code_find_fragment(node.code, "global::no_such", &place));
    assert_int_equal(code_normal_exit(node.code), node.global + 0x90);
    assert_true(code_contains(node.code, node.base + CODE_SIZE - 1));
    assert_false(code_contains(node.code, node.base + CODE_SIZE));
    assert_false(code_find(node.code, 0, &place));
    assert_false(code_find(node.code, UINT64_MAX, &place));
    close_node(&node);
}

/* The header of a function is distinguished from its code, and from another range of the same name
 * after a gap. */
static void test_header_of_a_function_is_marked(void **state)
{
    const struct fake_range ranges[] = {
        {0, 0x40, "h::codeHeader"},     {0x40, 0x60, "h:f/0-CodeInfoPrologue"},
        {0x60, 0x100, "h:f/0"},         {0x100, 0x120, "h:g/0"},
        {0x120, 0x140, "h:g/1"},        {0x150, 0x180, "h:g/1"},
        {0x180, CODE_SIZE, "h:last/1"},
    };
    static const bool headers[] = {false, true, false, false, false, false, false};
    struct code_place place;
    struct node node;
    uint64_t base;

    (void)state;
    open_node(&node);
    base = fake_room(node.target, CODE_SIZE);
    fake_load(node.target, &node.vm, fake_symfile("h", base, CODE_SIZE, ranges, 7));
    refresh(&node);
    for (size_t i = 0; i < 7; i++) {
        assert_true(code_find(node.code, base + ranges[i].start + 8, &place));
        assert_int_equal(place.is_function_header, headers[i]);
    }
    close_node(&node);
}

/* The code after a call shows where the stack pointer is restored from. The first such instruction
 * counts, and only the forms of the VM's release. */
static void test_code_after_a_call_gives_its_class(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        enum call_class class;
    } cases[] = {
        {"\x49\x8b\x65\x50", 4, CALL_FRESH},                 /* mov rsp, [r13 + 80] */
        {"\x48\x89\xec", 3, CALL_STALE},                     /* mov rsp, rbp */
        {"\x90\x90\x48\x89\xec\x49\x8b\x65", 8, CALL_STALE}, /* the first counts */
        {"\x90\x49\x8b\x65\x50\x48\x89\xec", 8, CALL_FRESH},
        {"\x4c\x89\xe4", 3, CALL_FRESH}, /* only in OTP 24 */
        {"\x90", 1, CALL_FRESH},
    };
    struct node node;

    (void)state;
    open_node(&node);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint64_t base = load(&node, "calls", "calls:f/0");

        refresh(&node);
        fake_put(node.target, base + 0x50, cases[i].bytes, cases[i].size);
        assert_int_equal(code_call_class(node.code, base + 0x50), cases[i].class);
        assert_int_equal(code_call_class(node.code, base + 0x50), cases[i].class); /* cached */
    }
    assert_int_equal(code_call_class(node.code, 0x1234), CALL_FRESH);
    close_node(&node);
}

/* A cached class is valid until the code changes, and no longer. */
static void test_class_of_a_call_is_kept_until_the_code_changes(void **state)
{
    struct node node;

    (void)state;
    open_node(&node);
    fake_put(node.target, node.base + 0x50, "\x48\x89\xec", 3);
    assert_int_equal(code_call_class(node.code, node.base + 0x50), CALL_STALE);
    fake_put(node.target, node.base + 0x50, "\x49\x8b\x65", 3);
    assert_int_equal(code_call_class(node.code, node.base + 0x50), CALL_STALE);
    fake_load(node.target, &node.vm, module_file("m", node.base, "m:second/1", 20));
    refresh(&node);
    assert_int_equal(code_call_class(node.code, node.base + 0x50), CALL_FRESH);
    close_node(&node);
}

/* The entry of OTP 24 has no address for normal_exit: the VM's exported symbol is used. */
static void test_normal_exit_of_otp_24_is_the_exported_symbol(void **state)
{
    const struct fake_range range = {0, CODE_SIZE, "m:first/1"};
    struct fake_target *target = fake_target_new();
    struct buffer emulator = {0};
    struct error error;
    struct code *code;
    struct vm vm;

    (void)state;
    fake_vm(&vm, target, 24);
    fake_number(&emulator, 0, 8);
    fake_number(&emulator, 0, 8);
    fake_load(target, &vm, emulator);
    fake_load(target, &vm, fake_old_symfile("m", 0x10000, CODE_SIZE, &range, 1));
    assert_null(code_new(&vm, &error));
    vm.roots.normal_exit = 0x10100;
    code = code_new(&vm, &error);
    assert_non_null(code);
    assert_int_equal(code_normal_exit(code), 0x10100);
    code_free(code);
    free(target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_address_has_its_function_file_and_line),
        cmocka_unit_test(test_headers_and_fragments_are_no_functions),
        cmocka_unit_test(test_header_of_a_function_is_marked),
        cmocka_unit_test(test_code_after_a_call_gives_its_class),
        cmocka_unit_test(test_class_of_a_call_is_kept_until_the_code_changes),
        cmocka_unit_test(test_normal_exit_of_otp_24_is_the_exported_symbol),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
