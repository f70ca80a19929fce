// SPDX-License-Identifier: Apache-2.0
/* The process table of a VM is imitated: slots are taken and given back by the queue of data, as
 * erts_ptab_new_element() and erts_ptab_delete_element() do. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "beam/process_table.h"
#include "fake_target.h"
#include "util/error.h"

enum {
    BITS = 15,
    TABLE = 1 << BITS,
    USED = 100, /* few enough for looks that are not complete */
    PROCESS = 4096,
};

struct table {
    struct fake_target *target;
    struct vm vm;
    struct pid_encoding encoding;
    uint64_t slots, queue, root;
    size_t width; /* of data */
    uint64_t invalid;
    uint32_t aid, fid;
    uint64_t data[TABLE]; /* of the process in each slot; 0: none. Data are never 0 here */
    size_t count;
    bool seen[TABLE];
    size_t visits;
    struct live_slots *live;
    uint64_t chance;
};

static void put(struct table *table, uint64_t address, uint64_t value, size_t size)
{
    fake_put(table->target, address, &value, size);
}

static void put_field(struct table *table, int32_t offset, uint64_t value, size_t size)
{
    put(table, table->root + (uint64_t)offset, value, size);
}

static uint64_t queue_place(const struct table *table, uint32_t position)
{
    uint32_t line = (uint32_t)(64 / table->width), lines = TABLE / line;
    uint32_t index = position % TABLE;

    return table->queue + (uint64_t)(index % lines * line + index / lines) * table->width;
}

static uint64_t queued(const struct table *table, uint32_t position)
{
    uint64_t data = 0;

    memcpy(&data, table->target->bytes + (queue_place(table, position) - FAKE_BASE), table->width);
    return data;
}

static void set_positions(struct table *table)
{
    put_field(table, table->vm.layout.ptab_aid_ix, table->aid, 4);
}

/* Return the slot. */
static uint64_t start_process(struct table *table)
{
    uint64_t data, slot;

    do {
        table->aid++;
        data = queued(table, table->aid);
        put(table, queue_place(table, table->aid), table->invalid, table->width);
    } while (data == table->invalid);
    set_positions(table);
    slot = pid_encoding_index_of_data(&table->encoding, data);
    assert_int_equal(table->data[slot], 0);
    table->data[slot] = data;
    table->count++;
    fake_put_u64(table->target, table->slots + slot * 8, PROCESS + slot);
    return slot;
}

static void end_process(struct table *table, uint64_t slot)
{
    uint64_t data = table->data[slot] + TABLE;

    table->data[slot] = 0;
    table->count--;
    fake_put_u64(table->target, table->slots + slot * 8, 0);
    do
        table->fid++;
    while (queued(table, table->fid) != table->invalid);
    put(table, queue_place(table, table->fid), data, table->width);
}

static void set_shifts(struct table *table, int32_t cl_mask, int32_t cl_shift, int32_t cli_mask,
                       int32_t cli_shift, size_t entry)
{
    size_t mask = table->width == 8 ? 8 : 4;
    uint64_t line = 64 / entry, lines = TABLE / line;

    put_field(table, cl_mask, lines - 1, mask);
    put_field(table, cl_shift, (uint64_t)__builtin_ctzll(line), 4);
    put_field(table, cli_mask, line - 1, mask);
    put_field(table, cli_shift, (uint64_t)__builtin_ctzll(lines), 4);
}

static void open_table(struct table *table, int release)
{
    struct layout *layout = &table->vm.layout;
    struct error error;

    memset(table, 0, sizeof(*table));
    table->chance = 1;
    table->target = fake_target_new();
    table->vm = (struct vm){.memory = &table->target->memory};
    fake_release(&table->vm, release);
    table->width = table->vm.features.wide_pids ? 8 : 4;
    table->invalid = table->width == 8 ? ((uint64_t)1 << 60) - 1 : 0xfffffff;
    table->root = table->vm.roots.proc_table = fake_room(table->target, 1024);
    table->slots = fake_room(table->target, TABLE * 8);
    table->queue = fake_room(table->target, TABLE * table->width);
    put_field(table, layout->ptab_tab, table->slots, 8);
    put_field(table, layout->ptab_max, TABLE, 4);
    put_field(table, layout->ptab_free_id_data, table->queue, 8);
    put_field(table, layout->ptab_invalid_data, table->invalid, 8);
    put_field(table, layout->ptab_pix_mask, TABLE - 1, table->width);
    set_shifts(table, layout->ptab_pix_cl_mask, layout->ptab_pix_cl_shift,
               layout->ptab_pix_cli_mask, layout->ptab_pix_cli_shift, 8);
    set_shifts(table, layout->ptab_dix_cl_mask, layout->ptab_dix_cl_shift,
               layout->ptab_dix_cli_mask, layout->ptab_dix_cli_shift, table->width);
    assert_int_equal(pid_encoding_read(&table->vm, &table->encoding, &error), 0);
    for (uint32_t i = 0; i < TABLE; i++)
        put(table, queue_place(table, i), i + TABLE, table->width);
    table->aid = table->fid = UINT32_MAX;
    table->live = live_slots_new(&table->vm, &table->encoding);
    for (int i = 0; i < USED; i++)
        start_process(table);
}

static void close_table(struct table *table)
{
    live_slots_free(table->live);
    free(table->target);
    free(table);
}

static uint32_t by_chance(struct table *table, uint32_t below)
{
    table->chance = table->chance * 6364136223846793005 + 1442695040888963407;
    return (uint32_t)(table->chance >> 33) % below;
}

static uint64_t any_process(struct table *table)
{
    uint64_t slot = by_chance(table, TABLE);

    while (!table->data[slot])
        slot = (slot + 1) % TABLE;
    return slot;
}

static bool see(void *context, uint64_t index, uint64_t address)
{
    struct table *table = context;

    assert_false(table->seen[index]);
    assert_int_equal(address, PROCESS + index);
    table->seen[index] = true;
    table->visits++;
    return true;
}

/* Each process is visited, and nothing else. */
static void look(struct table *table)
{
    struct error error;

    table->visits = 0;
    memset(table->seen, 0, sizeof(table->seen));
    assert_int_equal(live_slots_each(table->live, see, table, &error), 0);
    for (size_t i = 0; i < TABLE; i++)
        assert_int_equal(table->seen[i], table->data[i] != 0);
    assert_int_equal(table->visits, table->count);
}

/* Let processes start and end; return the number of complete looks. */
static uint64_t churn(int release, int looks, uint32_t most)
{
    struct table *table = calloc(1, sizeof(*table));
    uint64_t complete;

    open_table(table, release);
    for (int i = 0; i < looks; i++) {
        for (uint32_t left = by_chance(table, most + 1); left; left--) {
            end_process(table, any_process(table));
            start_process(table);
        }
        look(table);
    }
    complete = live_slots_complete_looks(table->live);
    close_table(table);
    return complete;
}

/* Looks see all processes over many rounds of the queue, and most of them are not complete. */
static void test_all_processes_are_seen_without_reading_the_table(void **state)
{
    (void)state;
    for (int release = 25; release <= 29; release += 2) {
        assert_in_range(churn(release, 650, 100), 650 / 65, 650 / 65 + 20);
        assert_in_range(churn(release, 325, 1), 325 / 65, 325 / 65 + 2);
    }
}

/* More processes start between two looks than data were read in advance. */
static void test_many_new_processes_make_a_look_complete(void **state)
{
    (void)state;
    assert_in_range(churn(27, 40, 10000), 20, 40);
}

/* A VM with +P legacy has no queue. */
static void test_vm_without_a_queue_is_looked_at_completely(void **state)
{
    struct table *table = calloc(1, sizeof(*table));

    (void)state;
    open_table(table, 27);
    put_field(table, table->vm.layout.ptab_free_id_data, 0, 8);
    for (int i = 0; i < 10; i++)
        look(table);
    assert_int_equal(live_slots_complete_looks(table->live), 10);
    close_table(table);
}

/* A thread of the VM has taken the data and has not yet filled the slot when a look passes. */
static void test_slot_that_is_filled_late_is_seen_by_the_next_look(void **state)
{
    struct table *table = calloc(1, sizeof(*table));
    uint64_t slot, data;

    (void)state;
    open_table(table, 27);
    look(table);
    slot = start_process(table);
    fake_put_u64(table->target, table->slots + slot * 8, 0);
    data = table->data[slot];
    table->data[slot] = 0;
    table->count--;
    look(table);
    fake_put_u64(table->target, table->slots + slot * 8, PROCESS + slot);
    table->data[slot] = data;
    table->count++;
    look(table);
    assert_int_equal(live_slots_complete_looks(table->live), 1);
    close_table(table);
}

static bool see_one(void *context, uint64_t index, uint64_t address)
{
    (void)index;
    (void)address;
    ++*(int *)context;
    return false;
}

/* A look that its callback ends knows a part of the processes only. */
static void test_look_that_was_ended_makes_the_next_one_complete(void **state)
{
    struct table *table = calloc(1, sizeof(*table));
    struct error error;
    int visits = 0;

    (void)state;
    open_table(table, 25);
    assert_int_equal(live_slots_each(table->live, see_one, &visits, &error), 0);
    assert_int_equal(visits, 1);
    look(table);
    look(table);
    assert_int_equal(live_slots_complete_looks(table->live), 2);
    close_table(table);
}

static void test_memory_that_cannot_be_read_is_an_error(void **state)
{
    struct table *table = calloc(1, sizeof(*table));
    struct error error;

    (void)state;
    open_table(table, 29);
    look(table);
    table->target->gone = true;
    assert_int_equal(live_slots_each(table->live, see, table, &error), -1);
    close_table(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_processes_are_seen_without_reading_the_table),
        cmocka_unit_test(test_many_new_processes_make_a_look_complete),
        cmocka_unit_test(test_vm_without_a_queue_is_looked_at_completely),
        cmocka_unit_test(test_slot_that_is_filled_late_is_seen_by_the_next_look),
        cmocka_unit_test(test_look_that_was_ended_makes_the_next_one_complete),
        cmocka_unit_test(test_memory_that_cannot_be_read_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
