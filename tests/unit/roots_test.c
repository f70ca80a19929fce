// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "beam/roots.h"
#include "fake_target.h"

/* The positions of the VM's variables in the fake emulator's data. All other data is zero, except
 * for a text and pointers into the data. */
enum {
    DATA_SIZE = 4096,
    PROC_TABLE = 0x100,
    PORT_TABLE = 0x300,
    ATOM_TABLE = 0x508,
    SCHEDULERS = 0x600,
    DIRTY_CPU = 0x608,
    DIRTY_IO = 0x610,
    DESCRIPTOR = 0x648,
    RANGES = 0x708,
    THIS_NODE = 0x808,
    ALLOCATORS = 0x908,
    SPARE = 0xa80,
};

static const char *const names[] = {"false", "true", "x@host"};

static struct fake_target *target;
static struct layout layout;
static struct roots_search search;
static uint64_t data;

static void put_table(uint64_t at, unsigned int tag)
{
    uint64_t slots = fake_room(target, 1024 * 8);
    uint64_t invalid = FAKE_WORDS(target, 0xfffffff0 | tag);

    fake_put_u64(target, at + (uint64_t)layout.ptab_tab, slots);
    fake_put_u32(target, at + (uint64_t)layout.ptab_max, 1024);
    fake_put_u64(target, at + (uint64_t)layout.ptab_pix_mask, 1023);
    fake_put_u32(target, at + (uint64_t)layout.ptab_count, 3);
    fake_put_u64(target, at + (uint64_t)layout.ptab_invalid_element, invalid);
}

static uint64_t put_scheduler(uint64_t at, enum vm_scheduler_type type)
{
    uint64_t scheduler = fake_room(target, 512), queue = fake_room(target, 64);

    fake_put_u32(target, scheduler + (uint64_t)layout.sched_type, type);
    fake_put_u64(target, scheduler + (uint64_t)(type ? layout.sched_dirty_no : layout.sched_no), 1);
    fake_put_u64(target, scheduler + (uint64_t)layout.sched_run_queue, queue);
    fake_put_u64(target, scheduler + (uint64_t)layout.sched_tid, queue);
    fake_put_u64(target, at, scheduler);
    return scheduler;
}

static void put_descriptor(uint64_t at)
{
    uint64_t second = FAKE_WORDS(target, 0, 0, data, 32);
    uint64_t first = FAKE_WORDS(target, second, 0, data, 64);

    fake_put_u64(target, second + 8, first);
    fake_put_u32(target, at, 1);
    fake_put_u64(target, at + 16, first);
}

static void put_ranges(uint64_t at)
{
    uint64_t modules = FAKE_WORDS(target, 0x20000, 0x20100, 0x20100, 0x20400);
    const uint64_t active[] = {modules, 2, 8, modules + 16};

    fake_put_u64(target, at - 8, 128); /* mem_used */
    fake_put(target, at + 32, active, sizeof(active));
    fake_put_u32(target, at + 96, 2);  /* staging */
    fake_put_u32(target, at + 100, 1); /* active */
}

static void put_node(uint64_t at, uint64_t name)
{
    uint64_t entry = fake_room(target, 64), node = fake_room(target, 64);

    fake_put_u64(target, node + (uint64_t)layout.node_sysname, name);
    fake_put_u64(target, node + (uint64_t)layout.node_dist_entry, entry);
    fake_put_u64(target, at, node);
    fake_put_u64(target, at + 8, entry);
}

/* literal_alloc, with one instance; sys_alloc; the others are disabled. */
static void put_allocators(uint64_t at)
{
    enum { SYSTEM = 1, LITERAL = 9, INFO_BYTES = 24 };
    uint64_t instance = fake_room(target, 2400);

    fake_put_u32(target, instance + (uint64_t)layout.allocator_number, LITERAL);
    fake_put_u32(target, at + SYSTEM * INFO_BYTES + 4, 1);
    fake_put_u32(target, at + LITERAL * INFO_BYTES, 1);
    fake_put_u32(target, at + LITERAL * INFO_BYTES + 4, 1);
    fake_put_u64(target, at + LITERAL * INFO_BYTES + 16, instance);
}

static int start(void **state)
{
    (void)state;
    target = fake_target_new();
    layout = fake_layout(29);
    data = fake_room(target, DATA_SIZE);
    search = (struct roots_search){.memory = &target->memory,
                                   .layout = &layout,
                                   .start = data,
                                   .bytes = target->bytes + (data - FAKE_BASE),
                                   .size = DATA_SIZE,
                                   .executable_start = data};
    fake_put(target, data, "Erlang", 6);
    for (uint64_t at = 0x20; at < 0x80; at += 8)
        fake_put_u64(target, data + at, data + at);
    put_table(data + PROC_TABLE, 3);
    put_table(data + PORT_TABLE, 7);
    fake_atom_table(target, &layout, data + ATOM_TABLE, 200, names, 3);
    put_scheduler(data + SCHEDULERS, VM_SCHEDULER_NORMAL);
    put_scheduler(data + DIRTY_CPU, VM_SCHEDULER_DIRTY_CPU);
    put_scheduler(data + DIRTY_IO, VM_SCHEDULER_DIRTY_IO);
    put_descriptor(data + DESCRIPTOR);
    put_ranges(data + RANGES);
    put_node(data + THIS_NODE, fake_atom_term(2));
    put_allocators(data + ALLOCATORS);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    free(target);
    return 0;
}

static uint64_t word_at(uint64_t address)
{
    uint64_t word;

    assert_true(memory_read_u64(&target->memory, address, &word));
    return word;
}

static struct vm_roots found(void)
{
    struct vm_roots roots;
    struct error error;

    assert_int_equal(roots_find(&search, NULL, &roots, &error), 0);
    return roots;
}

static void expect_refused(const char *what)
{
    struct vm_roots roots = {.proc_table = 5};
    struct error error;

    assert_int_equal(roots_find(&search, NULL, &roots, &error), -1);
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, what));
    assert_int_equal(roots.proc_table, 5);
}

/* Without exported symbols, each root is found by its form. */
static void test_each_root_is_found_by_its_form(void **state)
{
    struct vm_roots roots = found();

    (void)state;
    assert_int_equal(roots.proc_table, data + PROC_TABLE);
    assert_int_equal(roots.port_table, data + PORT_TABLE);
    assert_int_equal(roots.atom_table, data + ATOM_TABLE);
    assert_int_equal(roots.schedulers[0], word_at(data + SCHEDULERS));
    assert_int_equal(roots.schedulers[1], word_at(data + DIRTY_CPU));
    assert_int_equal(roots.schedulers[2], word_at(data + DIRTY_IO));
    assert_int_equal(roots.jit_descriptor, data + DESCRIPTOR);
    assert_int_equal(roots.code_ranges, data + RANGES);
    assert_int_equal(roots.this_node, data + THIS_NODE);
    assert_int_equal(roots.allocators, data + ALLOCATORS);
}

/* A second match makes a root ambiguous, and the error has the number of matches. */
static void test_root_with_a_second_match_is_refused(void **state)
{
    (void)state;
    put_table(data + SPARE, 3);
    expect_refused("the process table (erts_proc)");
    expect_refused("2 candidates");
}

static void test_two_pointers_to_the_same_schedulers_do_not_conflict(void **state)
{
    (void)state;
    fake_put_u64(target, data + SPARE, word_at(data + SCHEDULERS));
    assert_int_equal(found().schedulers[0], word_at(data + SCHEDULERS));
}

/* Each missing root is named in the error; one damaged field is enough. */
static void test_missing_root_is_named_in_the_error(void **state)
{
    const uint64_t scheduler = word_at(data + SCHEDULERS);

    (void)state;
    fake_put_u64(target, scheduler + (uint64_t)layout.sched_no, 2);
    expect_refused("erts_aligned_scheduler_data");
    fake_put_u32(target, data + ATOM_TABLE + (uint64_t)layout.index_entries, 2000);
    expect_refused("erts_atom_table");
    fake_put_u32(target, data + PROC_TABLE + (uint64_t)layout.ptab_max, 1025);
    expect_refused("erts_proc");
}

/* An IndexTable of other things (modules, exports) is not taken for the atom table. */
static void test_other_index_table_is_not_the_atom_table(void **state)
{
    static const char *const others[] = {"true", "false"};

    (void)state;
    fake_atom_table(target, &layout, data + SPARE, 150, others, 2);
    assert_int_equal(found().atom_table, data + ATOM_TABLE);
}

/* Without the JIT's list the code ranges are enough; without both the VM is refused. */
static void test_vm_without_jit_list_and_code_ranges_is_refused(void **state)
{
    (void)state;
    fake_put_u32(target, data + DESCRIPTOR, 2);
    assert_int_equal(found().jit_descriptor, 0);
    assert_int_equal(found().code_ranges, data + RANGES);
    fake_put_u32(target, data + RANGES + 100, 0); /* active: an index without ranges */
    expect_refused("code ranges");
}

/* The newest entry of the list may have any `prev`; the only entry must have 0. */
static void test_only_entry_of_the_jit_list_needs_prev_0(void **state)
{
    uint64_t first = word_at(data + DESCRIPTOR + 16);

    (void)state;
    fake_put_u64(target, first + 8, 0x7f1234);
    assert_int_equal(found().jit_descriptor, data + DESCRIPTOR);
    fake_put_u64(target, first, 0);
    assert_int_equal(found().jit_descriptor, 0);
    fake_put_u64(target, first + 8, 0);
    assert_int_equal(found().jit_descriptor, data + DESCRIPTOR);
}

/* A list of code with inconsistent links is not found, nor are ranges that overlap. */
static void test_inconsistent_lists_of_code_are_not_found(void **state)
{
    uint64_t first = word_at(data + DESCRIPTOR + 16), modules = word_at(data + RANGES + 32);

    (void)state;
    fake_put_u64(target, word_at(first) + 8, first + 8);
    assert_int_equal(found().jit_descriptor, 0);
    fake_put_u64(target, word_at(first) + 8, first);
    fake_put_u64(target, modules + 16, 0x200ff);
    assert_int_equal(found().code_ranges, 0);
    assert_int_equal(found().jit_descriptor, data + DESCRIPTOR);
}

/* An invalid node name is not found; the VM is accepted without it. */
static void test_invalid_node_name_is_not_found(void **state)
{
    uint64_t node = word_at(data + THIS_NODE);

    (void)state;
    fake_put_u64(target, node + (uint64_t)layout.node_sysname, fake_atom_term(1));
    assert_int_equal(found().this_node, 0);
}

/* No test reads beyond the data, wherever it begins. */
static void test_search_does_not_read_beyond_the_data(void **state)
{
    static const root_test tests[] = {
        root_test_process_table,        root_test_port_table,     root_test_atom_table,
        root_test_schedulers,           root_test_jit_descriptor, root_test_code_ranges,
        root_test_dirty_cpu_schedulers, root_test_this_node,      root_test_allocators,
    };
    uint64_t root;

    (void)state;
    search.bytes = malloc(8);
    search.size = 8;
    memset(search.bytes, 1, 8);
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        assert_false(tests[i](&search, data, &root));
        assert_false(tests[i](&search, data + 8, &root));
        assert_false(tests[i](&search, data - 8, &root));
        assert_false(tests[i](&search, UINT64_MAX - 3, &root));
    }
    free(search.bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_root_is_found_by_its_form),
        TEST(test_root_with_a_second_match_is_refused),
        TEST(test_two_pointers_to_the_same_schedulers_do_not_conflict),
        TEST(test_missing_root_is_named_in_the_error),
        TEST(test_other_index_table_is_not_the_atom_table),
        TEST(test_vm_without_jit_list_and_code_ranges_is_refused),
        TEST(test_only_entry_of_the_jit_list_needs_prev_0),
        TEST(test_inconsistent_lists_of_code_are_not_found),
        TEST(test_invalid_node_name_is_not_found),
        TEST(test_search_does_not_read_beyond_the_data),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
