// SPDX-License-Identifier: Apache-2.0
/* Lists of code and symbol files that are damaged or too large. */
#include "code_node.h"

#include <time.h>

#include "util/clock.h"

/* Open a node with the module n, whose code is at *ret_base. Return the module's entry of the list.
 */
static uint64_t open_with_module(struct node *node, uint64_t *ret_base)
{
    open_node(node);
    *ret_base = fake_room(node->target, CODE_SIZE);
    return fake_load(node->target, &node->vm, module_file("n", *ret_base, "n:f/0", 1));
}

/* A module whose symbol file is larger than any real one has no name, and takes no memory. */
static void test_module_with_a_huge_symbol_file_has_no_names(void **state)
{
    struct node node;
    uint64_t base, entry;

    (void)state;
    entry = open_with_module(&node, &base);
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
    entry = open_with_module(&node, &base);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_circular_list_ends),
        cmocka_unit_test(test_module_with_an_invalid_file_has_no_names),
        cmocka_unit_test(test_missing_or_invalid_list_of_code_is_an_error),
        cmocka_unit_test(test_list_that_takes_too_long_is_an_error_that_says_so),
        cmocka_unit_test(test_module_with_a_huge_symbol_file_has_no_names),
        cmocka_unit_test(test_symbol_files_of_a_vm_have_a_limit_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
