// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "beam/code.h"
#include "fake_code.h"
#include "util/clock.h"

enum { CODE_SIZE = 0x200, OTHERS = 6 };
static const uint64_t SECOND = 1000000000;

/* A VM with the emulator's entry, fragments, some modules that stay as they are, and "m" last. */
struct node {
    struct fake_target *target;
    struct vm vm;
    struct code *code;
    uint64_t base, entry, symfile; /* of the module "m" */
    uint64_t global;
};

static struct buffer module_file(const char *name, uint64_t base, const char *function,
                                 uint32_t line)
{
    const struct fake_range ranges[] = {
        {0, 0x40, "m::codeHeader"},
        {0x40, 0x100, function, {{0x40, line, "m.erl"}, {0x80, line + 1, "m.erl"}}},
        {0x100, CODE_SIZE, "m:other/0"},
    };

    return fake_symfile(name, base, CODE_SIZE, ranges, 3);
}

static uint64_t load(struct node *node, const char *name, const char *function)
{
    uint64_t base = fake_room(node->target, CODE_SIZE);

    fake_load(node->target, &node->vm, module_file(name, base, function, 10));
    return base;
}

static void open_node(struct node *node)
{
    const struct fake_range fragments[] = {{0, 0x80, "global::call_bif_shared"},
                                           {0x80, 0x100, "global::garbage_collect"}};
    struct error error;
    struct buffer file;

    memset(node, 0, sizeof(*node));
    node->target = fake_target_new();
    fake_vm(&node->vm, node->target, 27);
    node->global = fake_room(node->target, 0x100);
    fake_load(node->target, &node->vm, fake_emulator(node->global + 0x90, false));
    fake_load(node->target, &node->vm, fake_symfile("global", node->global, 0x100, fragments, 2));
    for (int i = 0; i < OTHERS; i++)
        load(node, "other", "other:f/0");
    node->base = fake_room(node->target, CODE_SIZE);
    file = module_file("m", node->base, "m:first/1", 10);
    node->entry = fake_room(node->target, 32);
    node->symfile = fake_room(node->target, file.size);
    fake_link(node->target, &node->vm, node->entry, node->symfile, &file);
    node->code = code_new(&node->vm, &error);
    assert_non_null(node->code);
}

static void close_node(struct node *node)
{
    code_free(node->code);
    free(node->target);
}

static void refresh(struct node *node)
{
    struct error error;

    assert_int_equal(code_refresh(node->code, &error), 0);
}

static const char *symbol_at(struct node *node, uint64_t address)
{
    struct code_place place;

    return code_find(node->code, address, &place) ? place.symbol : "";
}

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

/* A refresh without changes keeps the epoch; one with changes increases it. */
static void test_epoch_grows_only_with_changes(void **state)
{
    struct node node;
    uint64_t epoch, generation, base;

    (void)state;
    open_node(&node);
    epoch = code_epoch(node.code);
    generation = code_generation(node.code);
    assert_int_equal(generation, node.entry);
    refresh(&node);
    assert_int_equal(code_epoch(node.code), epoch);
    base = load(&node, "new", "new:f/0");
    assert_string_equal(symbol_at(&node, base + 0x50), "");
    refresh(&node);
    assert_string_equal(symbol_at(&node, base + 0x50), "new:f/0");
    assert_true(code_epoch(node.code) > epoch);
    assert_int_not_equal(code_generation(node.code), generation);
    close_node(&node);
}

/* All code that was loaded between two refreshes is found, however much it is. */
static void test_all_code_loaded_between_two_refreshes_is_found(void **state)
{
    uint64_t bases[40];
    struct node node;
    char name[32];

    (void)state;
    open_node(&node);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof(name), "many:f%d/0", i);
        bases[i] = load(&node, "many", name);
    }
    refresh(&node);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof(name), "many:f%d/0", i);
        assert_string_equal(symbol_at(&node, bases[i] + 0x50), name);
    }
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:first/1");
    close_node(&node);
}

/* New code at the address of old code replaces it, even with another entry. */
static void test_new_code_replaces_old_code_at_its_address(void **state)
{
    struct node node;

    (void)state;
    open_node(&node);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:first/1");
    fake_load(node.target, &node.vm, module_file("m", node.base, "m:second/1", 20));
    refresh(&node);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:second/1");
    close_node(&node);
}

/* A freed entry is reused at the same address, as is its file, with other content. */
static void test_reused_entry_gives_its_new_content(void **state)
{
    struct node node;
    struct buffer file;

    (void)state;
    open_node(&node);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:first/1");
    fake_unlink(node.target, &node.vm, node.entry);
    file = module_file("m", node.base, "m:secnd/1", 10); /* of the same length as the first */
    fake_link(node.target, &node.vm, node.entry, node.symfile, &file);
    assert_int_equal(fake_first(&node.vm), code_generation(node.code));
    refresh(&node);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:secnd/1");
    close_node(&node);
}

/* Purged code still has names, because samples of it may come later. */
static void test_purged_code_keeps_its_names(void **state)
{
    struct node node;

    (void)state;
    open_node(&node);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:first/1");
    fake_unlink(node.target, &node.vm, node.entry);
    fake_put(node.target, node.symfile, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    refresh(&node);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:first/1");
    close_node(&node);
}

/* The file of a module that was not looked up yet is read when a newer version appears, before the
 * old version is purged. */
static void test_old_version_is_read_before_it_is_purged(void **state)
{
    struct node node;

    (void)state;
    open_node(&node);
    load(&node, "m", "m:second/1");
    refresh(&node);
    fake_unlink(node.target, &node.vm, node.entry);
    fake_put(node.target, node.symfile, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:first/1");
    close_node(&node);
}

/* If new modules cover old ones in part, the rest belongs to the newest old module. */
static void test_rest_of_replaced_code_belongs_to_the_newest_old_module(void **state)
{
    const struct fake_range small = {0, 0x80, "tiny:f/0"};
    struct node node;

    (void)state;
    open_node(&node);
    symbol_at(&node, node.base + 0x50);
    fake_load(node.target, &node.vm, module_file("m", node.base, "m:second/1", 20));
    refresh(&node);
    fake_load(node.target, &node.vm, fake_symfile("tiny", node.base, 0x80, &small, 1));
    refresh(&node);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "tiny:f/0");
    assert_string_equal(symbol_at(&node, node.base + 0x90), "m:second/1");
    close_node(&node);
}

/* Replaced modules are forgotten 10 s after that, and the others are not. */
static void test_replaced_modules_are_forgotten_after_10_s(void **state)
{
    const struct fake_range small = {0, 0x80, "tiny:f/0"};
    uint64_t now = clock_ns(CLOCK_MONOTONIC), epoch;
    struct node node;

    (void)state;
    open_node(&node);
    fake_load(node.target, &node.vm, fake_symfile("tiny", node.base, 0x80, &small, 1));
    refresh(&node);
    epoch = code_epoch(node.code);
    assert_int_equal(code_forget(node.code, now + 9 * SECOND), 0);
    assert_string_equal(symbol_at(&node, node.base + 0x90), "m:first/1");
    assert_int_equal(code_epoch(node.code), epoch);
    assert_int_equal(code_forget(node.code, now + 15 * SECOND), 1);
    assert_string_equal(symbol_at(&node, node.base + 0x90), "");
    assert_string_equal(symbol_at(&node, node.base + 0x50), "tiny:f/0");
    assert_true(code_epoch(node.code) > epoch);
    assert_int_equal(code_forget(node.code, now + 15 * SECOND), 0);
    fake_unlink(node.target, &node.vm, fake_first(&node.vm));
    refresh(&node);
    fake_load(node.target, &node.vm, module_file("m", node.base, "m:again/1", 20));
    refresh(&node);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:again/1");
    close_node(&node);
}

/* A module whose symbol file is larger than any real one has no name, and takes no memory. */
static void test_module_with_a_huge_symbol_file_has_no_names(void **state)
{
    struct node node;
    uint64_t base, entry;

    (void)state;
    open_node(&node);
    base = fake_room(node.target, CODE_SIZE);
    entry = fake_load(node.target, &node.vm, module_file("n", base, "n:f/0", 1));
    fake_put_u64(node.target, entry + 24, 200 << 20);
    refresh(&node);
    assert_string_equal(symbol_at(&node, base + 0x50), "");
    close_node(&node);
}

/* Modules of a VM take so much memory and not more: after that, modules have no names. */
static void test_symbol_files_of_a_vm_have_a_limit_together(void **state)
{
    enum { FILES = 120, RANGES = 30000 };
    struct fake_range *ranges = calloc(RANGES, sizeof(*ranges));
    struct node node;
    struct buffer file;
    uint64_t symfile, base = 0x700000000000;
    int named = 0;

    (void)state;
    open_node(&node);
    for (uint32_t i = 0; i < RANGES; i++)
        ranges[i] = (struct fake_range){i, i + 1, "m:f/0"};
    file = fake_symfile("large", base, RANGES, ranges, RANGES);
    assert_true(file.size < FAKE_SIZE * 3 / 4);
    symfile = fake_room(node.target, file.size);
    for (int i = 0; i < FILES; i++) { /* all are at one place: only the base differs */
        fake_put(node.target, symfile, file.data, file.size);
        fake_put_u64(node.target, symfile + 8, base + (uint64_t)i * RANGES);
        fake_link_at(node.target, &node.vm, fake_room(node.target, 32), symfile, file.size);
        refresh(&node);
        named += *symbol_at(&node, base + (uint64_t)i * RANGES) != 0;
    }
    assert_in_range(named, 10, FILES - 1);
    buffer_free(&file);
    free(ranges);
    close_node(&node);
}

/* A circular list ends, and its entries are found. */
static void test_circular_list_ends(void **state)
{
    struct node node;
    uint64_t base, entry;

    (void)state;
    open_node(&node);
    base = fake_room(node.target, CODE_SIZE);
    entry = fake_load(node.target, &node.vm, module_file("n", base, "n:f/0", 1));
    fake_put_u64(node.target, entry, entry);
    refresh(&node);
    assert_string_equal(symbol_at(&node, base + 0x50), "n:f/0");
    base = fake_room(node.target, CODE_SIZE);
    fake_load(node.target, &node.vm, module_file("o", base, "o:f/0", 1));
    fake_put_u64(node.target, entry, fake_first(&node.vm));
    refresh(&node);
    assert_string_equal(symbol_at(&node, base + 0x50), "o:f/0");
    close_node(&node);
}

/* An invalid file leaves its addresses without names; other modules keep theirs. */
static void test_module_with_an_invalid_file_has_no_names(void **state)
{
    struct node node;

    (void)state;
    open_node(&node);
    fake_put(node.target, node.symfile + 60, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
             12);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "");
    assert_true(code_contains(node.code, node.base + 0x50));
    assert_string_equal(symbol_at(&node, node.global + 0x10), "global::call_bif_shared");
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

/* Without a list, or with an invalid one, there is no code map, and an error gives the reason. */
static void test_missing_or_invalid_list_of_code_is_an_error(void **state)
{
    struct fake_target *target = fake_target_new();
    struct error error;
    struct vm vm;

    (void)state;
    fake_vm(&vm, target, 27);
    assert_null(code_new(&vm, &error));
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    vm.roots.jit_descriptor = 0;
    assert_null(code_new(&vm, &error));
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "interpreter"));
    free(target);
}

/* Read with 6 ms of CPU time, so that 64 entries with a file each take more than is allowed. */
static bool slow_read(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 6000000;

    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
    return fake_read(memory, address, buffer, size);
}

/* A list that takes too long is not said to be empty. The oldest entry, which is needed, is last.
 */
static void test_list_that_takes_too_long_is_an_error_that_says_so(void **state)
{
    enum { ENTRIES = 70 };
    struct node node = {.target = fake_target_new()};
    struct error error;

    (void)state;
    fake_vm(&node.vm, node.target, 27);
    fake_load(node.target, &node.vm, fake_emulator(0x10100, false));
    for (int i = 0; i < ENTRIES; i++)
        load(&node, "m", "m:f/0");
    node.target->memory.read = slow_read;
    assert_null(code_new(&node.vm, &error));
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "the limit of CPU time for it is used up"));
    free(node.target);
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

/* When the target has ended, refreshing fails, and known code is kept. */
static void test_code_is_kept_when_the_target_has_ended(void **state)
{
    struct error error;
    struct node node;

    (void)state;
    open_node(&node);
    symbol_at(&node, node.base + 0x50);
    node.target->gone = true;
    assert_int_equal(code_refresh(node.code, &error), -1);
    assert_int_equal(error.code, ERROR_NO_PROCESS);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:first/1");
    close_node(&node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_address_has_its_function_file_and_line),
        cmocka_unit_test(test_headers_and_fragments_are_no_functions),
        cmocka_unit_test(test_header_of_a_function_is_marked),
        cmocka_unit_test(test_epoch_grows_only_with_changes),
        cmocka_unit_test(test_all_code_loaded_between_two_refreshes_is_found),
        cmocka_unit_test(test_new_code_replaces_old_code_at_its_address),
        cmocka_unit_test(test_reused_entry_gives_its_new_content),
        cmocka_unit_test(test_purged_code_keeps_its_names),
        cmocka_unit_test(test_old_version_is_read_before_it_is_purged),
        cmocka_unit_test(test_rest_of_replaced_code_belongs_to_the_newest_old_module),
        cmocka_unit_test(test_circular_list_ends),
        cmocka_unit_test(test_module_with_an_invalid_file_has_no_names),
        cmocka_unit_test(test_code_after_a_call_gives_its_class),
        cmocka_unit_test(test_class_of_a_call_is_kept_until_the_code_changes),
        cmocka_unit_test(test_missing_or_invalid_list_of_code_is_an_error),
        cmocka_unit_test(test_list_that_takes_too_long_is_an_error_that_says_so),
        cmocka_unit_test(test_normal_exit_of_otp_24_is_the_exported_symbol),
        cmocka_unit_test(test_code_is_kept_when_the_target_has_ended),
        cmocka_unit_test(test_replaced_modules_are_forgotten_after_10_s),
        cmocka_unit_test(test_module_with_a_huge_symbol_file_has_no_names),
        cmocka_unit_test(test_symbol_files_of_a_vm_have_a_limit_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
