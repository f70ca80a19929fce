// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "beam/ets_tables.h"
#include "beam/term.h"
#include "fake_target.h"

enum { SEEN_MAX = 16, PID = 0x55 << 4 | 3, SCHEDULERS = 2 };

static struct fake_target *target;
static struct vm vm;
static struct vm_scheduler schedulers[SCHEDULERS];
static struct ets_table seen[SEEN_MAX];
static size_t seen_count;
static struct ets_counts counts;

static void open_vm(int release)
{
    target = fake_target_new();
    vm = (struct vm){.memory = &target->memory,
                     .schedulers = schedulers,
                     .scheduler_count = SCHEDULERS,
                     .scheduler_counts = {SCHEDULERS}};
    fake_release(&vm, release);
    for (uint32_t i = 0; i < SCHEDULERS; i++) {
        schedulers[i] = (struct vm_scheduler){
            .data = fake_room(target, (size_t)vm.layout.sizeof_sched_aligned), .number = i + 1};
        if (vm.layout.sched_flxctr_slot >= 0) /* unknown in 24 */
            fake_put_u32(target, schedulers[i].data + (uint64_t)vm.layout.sched_flxctr_slot, i + 1);
    }
}

static void close_vm(void)
{
    free(target);
}

static uint64_t lists(uint32_t scheduler)
{
    int32_t at = vm.layout.sched_ets_tables >= 0 ? vm.layout.sched_ets_tables
                                                 : vm.layout.sched_ets_tables_25;

    return schedulers[scheduler].data + (uint64_t)at;
}

static void put_word(uint64_t table, int32_t at, uint64_t value)
{
    fake_put_u64(target, table + (uint64_t)at, value);
}

static void put_half(uint64_t table, int32_t at, uint32_t value)
{
    fake_put_u32(target, table + (uint64_t)at, value);
}

/* Write a table that is in no list; return its address. */
static uint64_t put_table(uint32_t name, uint32_t status, uint64_t objects, uint64_t bytes)
{
    const struct layout *layout = &vm.layout;
    uint64_t table = fake_room(target, (size_t)layout->sizeof_table);

    put_word(table, layout->table_name, fake_atom_term(name));
    put_word(table, layout->table_owner, PID);
    put_half(table, layout->table_status, status);
    put_half(table, layout->table_keypos, 1);
    put_half(table, layout->table_counter_count, 2);
    put_word(table, layout->table_counters, objects);
    put_word(table, layout->table_counters + 8, bytes);
    return table;
}

/* Put tables into the list of a scheduler. */
static void put_list(uint32_t scheduler, const uint64_t *tables, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put_word(tables[i], vm.layout.table_next, tables[(i + 1) % count]);
        put_word(tables[i], vm.layout.table_prev, tables[(i + count - 1) % count]);
    }
    put_word(lists(scheduler), vm.layout.ets_tables_list, tables[0]);
    put_word(lists(scheduler), vm.layout.ets_tables_count, count);
}

/* Give a table a block of counters with these objects and bytes for each element. */
static uint64_t put_block(uint64_t table, const uint64_t (*elements)[2], size_t count)
{
    uint64_t block = fake_room(target, 4096);

    put_half(table, vm.layout.table_is_decentralized, 1);
    put_word(table, vm.layout.table_counters, block);
    for (size_t i = 0; i < count; i++)
        fake_put(target, block + (uint64_t)vm.layout.counter_elements + i * 64, elements[i],
                 sizeof(elements[i]));
    return block;
}

static void see(void *context, const struct ets_table *table)
{
    (void)context;
    if (seen_count < SEEN_MAX)
        seen[seen_count] = *table;
    seen_count++;
}

static bool look(void)
{
    seen_count = 0;
    return ets_tables_each(&vm, see, NULL, &counts);
}

static void expect(size_t tables, uint64_t deleted, uint64_t lost)
{
    assert_true(look());
    assert_int_equal(seen_count, tables);
    assert_int_equal(counts.deleted, deleted);
    assert_int_equal(counts.lost, lost);
}

static const int releases[] = {25, 26, 27, 28, 29};

#define EACH_RELEASE(i) for (size_t i = 0; i < sizeof(releases) / sizeof(*releases); i++)

static void test_tables_of_all_schedulers_are_visited(void **state)
{
    (void)state;
    EACH_RELEASE(i)
    {
        uint64_t tables[3], binary;

        open_vm(releases[i]);
        tables[0] = put_table(1, DB_SET | DB_PUBLIC | DB_NAMED_TABLE, 3, 801);
        tables[1] = put_table(2, DB_CA_ORDERED_SET | DB_PROTECTED | DB_FINE_LOCKED, 0, 8);
        tables[2] = put_table(3, DB_DUPLICATE_BAG | DB_PRIVATE | DB_FREQ_READ, 9, 16);
        put_half(tables[1], vm.layout.table_compress, 1);
        put_half(tables[1], vm.layout.table_keypos, 7);
        put_word(tables[2], vm.layout.table_fix_count, 1);
        binary = fake_room(target, 64);
        put_word(tables[2], vm.layout.table_identifier, binary);
        if (vm.layout.magic_binary_numbers >= 0) {
            put_half(binary, vm.layout.magic_binary_numbers, 11);
            put_half(binary, vm.layout.magic_binary_numbers + 4, 1 << 17 | 2);
            put_half(binary, vm.layout.magic_binary_numbers + 8, 33);
        }
        put_list(0, tables, 2);
        put_list(1, tables + 2, 1);
        expect(3, 0, 0);
        assert_int_equal(seen[0].name, fake_atom_term(1));
        assert_int_equal(seen[0].owner, PID);
        assert_true(seen[0].facts.is_counted);
        assert_int_equal(seen[0].facts.objects, 3);
        assert_int_equal(seen[0].facts.bytes, 808);
        assert_int_equal(seen[0].facts.type, TABLE_SET);
        assert_int_equal(seen[0].facts.protection, TABLE_PUBLIC);
        assert_true(seen[0].facts.is_named && !seen[0].facts.is_compressed);
        assert_false(seen[0].has_reference);
        assert_int_equal(seen[1].facts.type, TABLE_ORDERED_SET);
        assert_int_equal(seen[1].facts.write_concurrency, TABLE_CONCURRENCY_TRUE);
        assert_int_equal(seen[1].facts.keypos, 7);
        assert_true(seen[1].facts.is_compressed && !seen[1].facts.is_fixed);
        assert_int_equal(seen[2].facts.type, TABLE_DUPLICATE_BAG);
        assert_true(seen[2].facts.read_concurrency && seen[2].facts.is_fixed);
        assert_int_equal(seen[2].has_reference, releases[i] != 26);
        if (seen[2].has_reference)
            assert_int_equal(seen[2].reference[2], 33);
        close_vm();
    }
}

static void test_release_without_a_layout_is_not_known(void **state)
{
    (void)state;
    open_vm(24);
    assert_false(look());
    assert_int_equal(seen_count, 0);
    close_vm();
}

static void test_identifier_of_another_scheduler_is_not_shown(void **state)
{
    uint64_t table, binary;

    (void)state;
    open_vm(27);
    table = put_table(1, DB_SET | DB_PUBLIC, 0, 8);
    binary = fake_room(target, 64);
    put_word(table, vm.layout.table_identifier, binary);
    put_half(binary, vm.layout.magic_binary_numbers + 4, 1 << 17 | 2);
    put_list(0, &table, 1);
    expect(1, 0, 0);
    assert_false(seen[0].has_reference);
    close_vm();
}

static void test_deleted_tables_are_counted_and_left_out(void **state)
{
    uint64_t tables[2];

    (void)state;
    open_vm(29);
    tables[0] = put_table(1, DB_SET | DB_PUBLIC | DB_DELETE, 1, 8);
    tables[1] = put_table(2, DB_SET | DB_PUBLIC, 1, 8);
    put_word(tables[0], vm.layout.table_owner, fake_atom_term(5));
    put_list(0, tables, 2);
    expect(1, 1, 0);
    close_vm();
}

static void test_decentralized_counters_are_added_up(void **state)
{
    static const uint64_t elements[][2] = {{5, 800}, {3, 80}, {(uint64_t)-1, (uint64_t)-8}};
    uint64_t table, block;

    (void)state;
    open_vm(27);
    table = put_table(1, DB_SET | DB_PUBLIC | DB_FINE_LOCKED | DB_FINE_LOCKED_AUTO, 0, 0);
    block = put_block(table, elements, 3);
    put_list(0, &table, 1);
    expect(1, 0, 0);
    assert_true(seen[0].facts.is_counted);
    assert_int_equal(seen[0].facts.objects, 7);
    assert_int_equal(seen[0].facts.bytes, 872);
    assert_int_equal(seen[0].facts.write_concurrency, TABLE_CONCURRENCY_AUTO);
    put_word(block, vm.layout.counter_snapshot_status, 1);
    expect(1, 0, 0);
    assert_false(seen[0].facts.is_counted);
    put_word(table, vm.layout.table_counters, 0x1000);
    expect(1, 0, 0);
    assert_false(seen[0].facts.is_counted);
    close_vm();
}

/* While a scheduler is offline, it is not known if an element is its own or other memory. */
static void test_counters_of_offline_schedulers_are_known_if_they_are_zero(void **state)
{
    uint64_t elements[][2] = {{5, 800}, {3, 80}, {0, 0}};
    uint64_t table, block;

    (void)state;
    open_vm(29);
    vm.core = (struct core_file *)&vm; /* no limit by CPUs of this machine */
    put_half(schedulers[1].data, vm.layout.sched_flxctr_slot, 0);
    table = put_table(1, DB_SET | DB_PUBLIC | DB_FINE_LOCKED, 0, 0);
    block = put_block(table, (const uint64_t(*)[2])elements, 3);
    put_list(0, &table, 1);
    expect(1, 0, 0);
    assert_true(seen[0].facts.is_counted);
    assert_int_equal(seen[0].facts.objects, 8);
    fake_put_u64(target, block + (uint64_t)vm.layout.counter_elements + 2 * 64, 1);
    expect(1, 0, 0);
    assert_false(seen[0].facts.is_counted);
    close_vm();
}

/* Counters below zero show that the table changed while it was read. */
static void test_impossible_counts_are_not_shown(void **state)
{
    uint64_t table;

    (void)state;
    open_vm(27);
    table = put_table(1, DB_SET | DB_PUBLIC, (uint64_t)-1, 8);
    put_list(0, &table, 1);
    expect(1, 0, 0);
    assert_false(seen[0].facts.is_counted);
    close_vm();
}

/* The second table is followed by itself, or by one that has another predecessor. */
static void test_cyclic_list_ends(void **state)
{
    uint64_t tables[4];

    (void)state;
    open_vm(27);
    for (uint32_t i = 0; i < 4; i++)
        tables[i] = put_table(i, DB_SET | DB_PUBLIC, 1, 8);
    put_list(0, tables, 4);
    put_word(tables[2], vm.layout.table_next, tables[1]);
    expect(3, 0, 1);
    put_word(tables[2], vm.layout.table_next, tables[2]);
    expect(3, 0, 1);
    put_word(tables[2], vm.layout.table_next, 0);
    expect(3, 0, 1);
    close_vm();
}

static void test_unreadable_and_implausible_tables_end_the_list(void **state)
{
    (void)state;
    for (int what = 0; what < 6; what++) {
        uint64_t tables[3];

        open_vm(27);
        for (uint32_t i = 0; i < 3; i++)
            tables[i] = put_table(i, DB_BAG | DB_PUBLIC, 1, 8);
        put_list(0, tables, 3);
        switch (what) {
        case 0:
            put_word(tables[0], vm.layout.table_next, 0x1000);
            break;
        case 1:
            put_word(tables[1], vm.layout.table_name, PID);
            break;
        case 2:
            put_word(tables[1], vm.layout.table_owner, fake_small(1));
            break;
        case 3:
            put_half(tables[1], vm.layout.table_status, DB_BAG | DB_SET | DB_PUBLIC);
            break;
        case 4:
            put_half(tables[1], vm.layout.table_status, DB_BAG);
            break;
        default:
            put_half(tables[1], vm.layout.table_counter_count, 3);
        }
        expect(1, 0, 2);
        close_vm();
    }
}

/* Make the identifier of a table; return the address of its ErtsMagicBinary. */
static uint64_t put_identifier(uint64_t table, const uint32_t numbers[ERTS_REF_NUMBERS])
{
    uint64_t binary = fake_room(target, 128);

    put_word(table, vm.layout.table_identifier, binary);
    put_word(binary, vm.layout.magic_binary_data, table);
    for (int32_t i = 0; i < ERTS_REF_NUMBERS; i++)
        put_half(binary, vm.layout.magic_binary_numbers + 4 * i, numbers[i]);
    return binary;
}

/* A table is found by the address and the numbers of its identifier. */
static void test_identifier_leads_to_the_name(void **state)
{
    static const uint32_t numbers[] = {11, 1 << 17 | 2, 33}, others[] = {11, 1 << 17 | 2, 34};

    (void)state;
    EACH_RELEASE(i)
    {
        uint64_t table, binary, name = 0;

        open_vm(releases[i]);
        if (vm.layout.magic_binary_data >= 0) {
            table = put_table(3, DB_SET | DB_PUBLIC, 1, 8);
            binary = put_identifier(table, numbers);
            assert_true(ets_table_name(&vm, binary, numbers, &name));
            assert_int_equal(name, fake_atom_term(3));
            assert_false(ets_table_name(&vm, binary, others, &name)); /* of a table before it */
            assert_false(ets_table_name(&vm, binary + 8, numbers, &name));
            put_word(table, vm.layout.table_identifier, binary + 8);
            assert_false(ets_table_name(&vm, binary, numbers, &name));
        } else {
            assert_int_equal(releases[i], 26);
            assert_false(ets_table_name(&vm, FAKE_BASE, numbers, &name));
        }
        close_vm();
    }
}

/* The identifier of a deleted table leads nowhere (tid_clear(), erl_db.c). */
static void test_identifier_of_a_deleted_table_has_no_name(void **state)
{
    static const uint32_t numbers[] = {11, 1 << 17 | 2, 33};
    uint64_t table, binary, name;

    (void)state;
    open_vm(29);
    table = put_table(3, DB_SET | DB_PUBLIC | DB_DELETE, 1, 8);
    binary = put_identifier(table, numbers);
    assert_false(ets_table_name(&vm, binary, numbers, &name));
    put_word(binary, vm.layout.magic_binary_data, 0);
    assert_false(ets_table_name(&vm, binary, numbers, &name));
    close_vm();
}

static void test_list_that_is_not_readable_is_lost(void **state)
{
    (void)state;
    open_vm(27);
    schedulers[1].data = 0x1000;
    vm.scheduler_count = 2;
    expect(0, 0, 1);
    close_vm();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_of_all_schedulers_are_visited),
        cmocka_unit_test(test_release_without_a_layout_is_not_known),
        cmocka_unit_test(test_identifier_of_another_scheduler_is_not_shown),
        cmocka_unit_test(test_deleted_tables_are_counted_and_left_out),
        cmocka_unit_test(test_decentralized_counters_are_added_up),
        cmocka_unit_test(test_counters_of_offline_schedulers_are_known_if_they_are_zero),
        cmocka_unit_test(test_impossible_counts_are_not_shown),
        cmocka_unit_test(test_cyclic_list_ends),
        cmocka_unit_test(test_unreadable_and_implausible_tables_end_the_list),
        cmocka_unit_test(test_identifier_leads_to_the_name),
        cmocka_unit_test(test_identifier_of_a_deleted_table_has_no_name),
        cmocka_unit_test(test_list_that_is_not_readable_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
