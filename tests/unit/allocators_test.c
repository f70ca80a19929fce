// SPDX-License-Identifier: Apache-2.0
/* Allocators and tables of a fake VM: binary_alloc has two instances, literal_alloc has one, and
 * the others are disabled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "beam/allocators.h"
#include "fake_target.h"

enum {
    SYSTEM = 1,
    LITERAL = 9,
    BINARY = 10,
    DRIVER = 11,
    INFO_BYTES = 24,
    INSTANCE_BYTES = 2400,
    /* offsets in CarriersStats_t */
    FROM_MSEG = 8,
    FROM_SYSTEM = 24,
    BLOCKS = 80,
    BLOCKS_STEP = 48,
};

static struct fake_target *target;
static struct vm vm;
static uint64_t info, binaries[3], literals, specific;

static uint64_t put_instance(uint32_t number, const char *prefix)
{
    uint64_t at = fake_room(target, INSTANCE_BYTES), text = fake_room(target, strlen(prefix) + 64);

    fake_put(target, text, prefix, strlen(prefix));
    fake_put_u32(target, at + (uint64_t)vm.layout.allocator_number, number);
    fake_put_u64(target, at + (uint64_t)vm.layout.allocator_name_prefix, text);
    return at;
}

static void put_info(uint32_t number, uint32_t is_alloc_util, uint32_t instances, uint64_t extra)
{
    const uint32_t start[] = {is_alloc_util, 1, instances, 0};

    fake_put(target, info + number * INFO_BYTES, start, sizeof(start));
    fake_put_u64(target, info + number * INFO_BYTES + 16, extra);
}

static int start(void **state)
{
    const uint32_t head[] = {1, 1, BINARY, 3};

    (void)state;
    memset(&vm, 0, sizeof(vm));
    target = fake_target_new();
    fake_release(&vm, 27);
    vm.pid = getpid();
    vm.memory = &target->memory;
    fake_room(target, INFO_BYTES); /* before it */
    info = vm.roots.allocators = fake_room(target, ALLOCATORS_BYTES);
    binaries[0] = put_instance(BINARY, "binary_");
    binaries[2] = put_instance(BINARY, "binary_"); /* the second one does not exist */
    literals = put_instance(LITERAL, "literal_");
    specific = fake_room(target, INFO_BYTES);
    fake_put(target, specific, head, sizeof(head));
    fake_put_u64(target, specific + 16, fake_words(target, binaries, 3));
    put_info(SYSTEM, 0, 0, 0);
    put_info(BINARY, 1, 3, specific);
    put_info(LITERAL, 1, 0, literals);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    free(target);
    return 0;
}

/* Put carriers into a CarriersStats_t, and blocks of an allocator. */
static void put_stats(uint64_t stats, uint64_t mseg, uint64_t sys, uint32_t number, uint64_t blocks)
{
    fake_put_u64(target, stats + FROM_MSEG, mseg);
    fake_put_u64(target, stats + FROM_SYSTEM, sys);
    fake_put_u64(target, stats + BLOCKS + (number - 1) * BLOCKS_STEP + 8, blocks);
}

static void put_pool(uint64_t instance, uint64_t carriers, uint32_t number, uint64_t blocks)
{
    fake_put_u64(target, instance + (uint64_t)vm.layout.allocator_pool_carriers, carriers);
    fake_put_u64(target, instance + (uint64_t)vm.layout.allocator_pool_blocks + (number - 1) * 8,
                 blocks);
}

static struct allocators read_all(void)
{
    struct allocators all;
    struct error error;

    assert_int_equal(allocators_read(&vm, &all, &error), 0);
    return all;
}

static void expect_refused(const char *text)
{
    struct allocators all = {.count = 77};
    struct error error = {0};

    assert_int_equal(allocators_read(&vm, &all, &error), -1);
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, text));
    assert_int_equal(all.count, 77);
}

/* Carriers and blocks of all instances add up, those in the pool as well. */
static void test_instances_add_up(void **state)
{
    uint64_t single = (uint64_t)vm.layout.allocator_single;
    uint64_t multi = (uint64_t)vm.layout.allocator_multi;
    struct allocators all;

    (void)state;
    put_stats(binaries[0] + single, 5000, 100, BINARY, 4000);
    put_stats(binaries[0] + multi, 30000, 0, BINARY, 20000);
    put_stats(binaries[2] + multi, 0, 32000, BINARY, 1000);
    put_pool(binaries[2], 8000, BINARY, 500);
    all = read_all();
    assert_int_equal(all.count, 2);
    assert_string_equal(all.of[0].name, "literal_alloc");
    assert_int_equal(all.of[0].instances, 1);
    assert_int_equal(dump_allocator_carriers(&all.of[0]), 0);
    assert_string_equal(all.of[1].name, "binary_alloc");
    assert_int_equal(all.of[1].instances, 2);
    assert_int_equal(all.of[1].single, 5100);
    assert_int_equal(all.of[1].multi, 62000);
    assert_int_equal(all.of[1].pooled, 8000);
    assert_int_equal(dump_allocator_carriers(&all.of[1]), 75100);
    assert_int_equal(all.of[1].blocks, 25500);
    assert_int_equal(all.of[1].allocated, 25500);
}

/* A block in a carrier of another allocator counts for the one that gave it out. */
static void test_block_in_foreign_carrier_counts_for_its_allocator(void **state)
{
    uint64_t multi = (uint64_t)vm.layout.allocator_multi;
    struct allocators all;

    (void)state;
    put_stats(literals + multi, 9000, 0, BINARY, 700);
    put_stats(literals + multi, 9000, 0, LITERAL, 200);
    all = read_all();
    assert_int_equal(all.of[0].blocks, 900);
    assert_int_equal(all.of[0].allocated, 200);
    assert_int_equal(all.of[1].blocks, 0);
    assert_int_equal(all.of[1].allocated, 700);
}

/* Without layout or root, the text says what is unknown. */
static void test_unknown_allocators_are_said_to_be_unknown(void **state)
{
    (void)state;
    vm.roots.allocators = 0;
    expect_refused("not found");
    fake_release(&vm, 24);
    expect_refused("OTP 24 are not known");
}

/* What can't be true is refused: sizes, numbers of instances, names, pointers. */
static void test_impossible_allocator_is_refused(void **state)
{
    uint64_t carriers = literals + (uint64_t)vm.layout.allocator_multi + FROM_MSEG;
    uint64_t name = literals + (uint64_t)vm.layout.allocator_name_prefix;
    uint64_t text = fake_room(target, 64);

    (void)state;
    fake_put_u64(target, carriers, (uint64_t)-1);
    expect_refused("allocator 9");
    fake_put_u64(target, carriers, 0);
    fake_put(target, text, "x\033[2J_", 6);
    fake_put_u64(target, name, text);
    expect_refused("allocator 9");
    fake_put(target, text, "literal_", 8);
    read_all();
    fake_put_u32(target, binaries[2] + (uint64_t)vm.layout.allocator_number, DRIVER);
    expect_refused("allocator 10");
    fake_put_u32(target, binaries[2] + (uint64_t)vm.layout.allocator_number, BINARY);
    fake_put_u32(target, specific + 12, 1 << 30);
    put_info(BINARY, 1, 1 << 30, specific);
    expect_refused("allocator 10");
    put_info(BINARY, 1, 3, 8);
    expect_refused("allocator 10");
}

/* The array of allocators is recognised; a field that does not fit is enough to refuse it. */
static void test_array_of_allocators_is_recognised(void **state)
{
    const uint8_t *bytes = target->bytes + (info - FAKE_BASE);

    (void)state;
    assert_true(allocators_are(vm.memory, &vm.layout, bytes));
    assert_false(allocators_are(vm.memory, &vm.layout, bytes - INFO_BYTES));
    fake_put_u32(target, literals + (uint64_t)vm.layout.allocator_number, DRIVER);
    assert_false(allocators_are(vm.memory, &vm.layout, bytes));
    fake_put_u32(target, literals + (uint64_t)vm.layout.allocator_number, LITERAL);
    fake_put_u32(target, specific + 8, DRIVER);
    assert_false(allocators_are(vm.memory, &vm.layout, bytes));
    put_info(BINARY, 0, 0, 0);
    assert_false(allocators_are(vm.memory, &vm.layout, bytes));
    fake_put_u32(target, info + BINARY * INFO_BYTES + 4, 0); /* disabled */
    assert_true(allocators_are(vm.memory, &vm.layout, bytes));
    memset(target->bytes + (info - FAKE_BASE) + LITERAL * INFO_BYTES, 0, INFO_BYTES);
    assert_false(allocators_are(vm.memory, &vm.layout, bytes));
}

/* Tables have the counts and limits of erlang:system_info(). The largest table has an entry that
 * is not used. */
static void test_tables_have_count_and_limit(void **state)
{
    uint64_t table = vm.roots.proc_table = fake_room(target, 512);
    struct memory_use use;

    (void)state;
    vm.roots.atom_table = fake_room(target, 128);
    fake_put_u32(target, vm.roots.atom_table + (uint64_t)vm.layout.index_entries, 12345);
    fake_put_u32(target, vm.roots.atom_table + (uint64_t)vm.layout.index_limit, 1 << 20);
    fake_put_u32(target, table + (uint64_t)vm.layout.ptab_count, 40);
    fake_put_u32(target, table + (uint64_t)vm.layout.ptab_max, 1024);
    node_memory_read(&vm, &use);
    assert_int_equal(use.atoms.count, 12345);
    assert_int_equal(use.atoms.limit, 1 << 20);
    assert_int_equal(use.processes.count, 40);
    assert_int_equal(use.processes.limit, 1024);
    assert_int_equal(use.ports.limit, 0);
    assert_int_equal(use.allocators.count, 2);
    assert_true(use.resident > 0);
    fake_put_u32(target, table + (uint64_t)vm.layout.ptab_max, 1 << 27);
    node_memory_read(&vm, &use);
    assert_int_equal(use.processes.count, 39);
    assert_int_equal(use.processes.limit, (1 << 27) - 1);
    fake_put_u32(target, table + (uint64_t)vm.layout.ptab_max, 39);
    fake_put_u32(target, vm.roots.atom_table + (uint64_t)vm.layout.index_entries, 1 << 21);
    node_memory_read(&vm, &use);
    assert_int_equal(use.processes.limit, 0);
    assert_int_equal(use.atoms.limit, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_instances_add_up),
        TEST(test_block_in_foreign_carrier_counts_for_its_allocator),
        TEST(test_unknown_allocators_are_said_to_be_unknown),
        TEST(test_impossible_allocator_is_refused),
        TEST(test_array_of_allocators_is_recognised),
        TEST(test_tables_have_count_and_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
