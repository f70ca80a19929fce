// SPDX-License-Identifier: Apache-2.0
/* The family of a process: its parent, its ancestors, its application. */
#include "process_cache_bench.h"

static uint64_t pid_of(uint64_t number)
{
    return number << 32 | number << 4 | 3;
}

static void put(struct bench *bench, uint64_t process, int32_t offset, uint64_t value)
{
    fake_put_u64(bench->target, process + (uint64_t)offset, value);
}

/* Add a process to the table. */
static uint64_t add_process(struct bench *bench, uint64_t number, uint64_t parent)
{
    uint64_t process = fake_room(bench->target, (size_t)bench->vm.layout.sizeof_process);

    put(bench, process, bench->vm.layout.process_id, pid_of(number));
    put(bench, process, bench->vm.layout.process_parent, parent);
    put(bench, bench->table, (int32_t)(number * 8), process);
    return process;
}

static const struct process_entry *entry_of(struct bench *bench, process_id id)
{
    assert_int_not_equal(id, 0);
    return profile_get_process(bench->profile, id);
}

static void assert_pid(struct bench *bench, process_id id, const char *pid)
{
    assert_string_equal(profile_text(bench->profile, entry_of(bench, id)->pid), pid);
}

/* Parents are entries with their own data. A parent that has ended keeps the data that was seen, or
 * has only its pid. */
static void test_parent_is_an_entry_with_its_own_data(void **state)
{
    const struct process_entry *entry;
    process_id first;
    uint64_t parent;
    struct bench b;

    (void)state;
    open_bench(&b);
    parent = add_process(&b, 9, pid_of(5));
    put(&b, parent, b.vm.layout.process_initial, fake_atom_term(SERVER));
    put(&b, parent, b.vm.layout.process_initial + 8, fake_atom_term(INIT));
    put(&b, parent, b.vm.layout.process_initial + 16, 1);
    set(&b, b.vm.layout.process_parent, pid_of(9));
    first = get(&b, SECOND);
    entry = entry_of(&b, entry_of(&b, first)->parent);
    assert_string_equal(profile_text(b.profile, entry->pid), "<0.9.0>");
    assert_string_equal(profile_text(b.profile, entry->initial_call), "server:init/1");
    entry = entry_of(&b, entry->parent);
    assert_string_equal(profile_text(b.profile, entry->pid), "<0.5.0>");
    assert_int_equal(entry->initial_call, 0);
    assert_int_equal(entry->parent, 0);
    put(&b, b.table, 9 * 8, 0);
    assert_int_equal(get(&b, 100 * SECOND), first);
    close_bench(&b);
}

/* Two processes that are each other's parents (impossible in a VM) do no harm. */
static void test_parents_in_a_circle_do_no_harm(void **state)
{
    process_id id;
    struct bench b;

    (void)state;
    open_bench(&b);
    put(&b, b.table, 41 * 8, b.process);
    add_process(&b, 9, pid_of(41));
    set(&b, b.vm.layout.process_parent, pid_of(9));
    id = get(&b, SECOND);
    assert_pid(&b, id, "<0.41.0>");
    assert_pid(&b, entry_of(&b, id)->parent, "<0.9.0>");
    assert_in_range(profile_counts(b.profile).processes, 2, 100);
    close_bench(&b);
}

/* Names and pids of ancestors: the nearest comes first in the list, and last in the chain. */
static void test_nearest_ancestor_is_last_in_the_chain(void **state)
{
    uint64_t dictionary, list;
    const struct ancestor *nearest;
    struct bench b;

    (void)state;
    open_bench(&b);
    list = fake_cons(b.target, pid_of(9), fake_cons(b.target, fake_atom_term(DB), 0x3b));
    dictionary = fake_room(b.target, 64);
    fake_put_u32(b.target, dictionary + (uint64_t)b.vm.layout.procdict_used, 1);
    fake_put_u64(b.target, dictionary + (uint64_t)b.vm.layout.procdict_data,
                 FAKE_TUPLE(b.target, 2, fake_atom_term(ANCESTORS), list));
    set(&b, b.vm.layout.process_dictionary, dictionary);
    nearest = profile_get_ancestor(b.profile, entry_of(&b, get(&b, SECOND))->ancestors);
    assert_string_equal(profile_text(b.profile, nearest->name), "<0.9.0>");
    nearest = profile_get_ancestor(b.profile, nearest->up);
    assert_string_equal(profile_text(b.profile, nearest->name), "db");
    assert_int_equal(nearest->up, 0);
    close_bench(&b);
}

/* Add a waiting application master, with its state on its stack. */
static uint64_t add_master(struct bench *bench, uint64_t number, int application)
{
    uint64_t master = add_process(bench, number, 0), stack;
    uint64_t data =
        FAKE_TUPLE(bench->target, 8, fake_atom_term(APPL_DATA),
                   fake_atom_term((uint64_t)application), 0x3b, 0x3b, 0x3b, 0x3b, 0x3b, 0x3b);
    uint64_t state = FAKE_TUPLE(bench->target, 6, fake_atom_term(STATE), pid_of(number + 1), data,
                                0x3b, fake_small(0), 0x3b);

    stack = FAKE_WORDS(bench->target, 0x7f0000001000, FAKE_TUPLE(bench->target, 2, data, data),
                       pid_of(3), state, 0x7f0000002000);
    put(bench, master, bench->vm.layout.process_initial, fake_atom_term(MASTER));
    put(bench, master, bench->vm.layout.process_initial + 8, fake_atom_term(INIT));
    put(bench, master, bench->vm.layout.process_initial + 16, 4);
    put(bench, master, bench->vm.layout.process_group_leader, pid_of(number));
    put(bench, master, bench->vm.layout.process_stop, stack);
    put(bench, master, bench->vm.layout.process_hend, stack + 5 * 8);
    return master;
}

static const char *application_at(struct bench *bench, uint64_t time)
{
    return profile_text(bench->profile, entry_of(bench, get(bench, time))->application);
}

/* The application is the group leader's, and is kept. */
static void test_application_is_that_of_the_group_leader(void **state)
{
    struct profile *next = profile_new();
    uint64_t master;
    struct bench b;

    (void)state;
    open_bench(&b);
    master = add_master(&b, 9, DB);
    set(&b, b.vm.layout.process_group_leader, pid_of(9));
    assert_string_equal(application_at(&b, SECOND), "db");
    put(&b, master, b.vm.layout.process_stop, 0x10);
    assert_string_equal(application_at(&b, 10 * SECOND), "db");
    add_master(&b, 11, WEB);
    set(&b, b.vm.layout.process_group_leader, pid_of(11));
    assert_string_equal(application_at(&b, 10 * SECOND + 1), "web");
    process_cache_move(b.cache, next, 0);
    profile_free(b.profile);
    b.profile = next;
    assert_string_equal(application_at(&b, 10 * SECOND + 2), "web");
    close_bench(&b);
}

/* A process has no application if its group leader is not a master or is not readable; unreadable
 * data is tried again after a second. */
static void test_no_application_without_a_readable_master(void **state)
{
    uint64_t master, stop;
    struct bench b;

    (void)state;
    open_bench(&b);
    master = add_master(&b, 9, DB);
    memcpy(&stop, b.target->bytes + (master - FAKE_BASE) + b.vm.layout.process_stop, 8);
    put(&b, master, b.vm.layout.process_group_leader, pid_of(7));
    set(&b, b.vm.layout.process_group_leader, pid_of(9));
    assert_string_equal(application_at(&b, SECOND), "");
    put(&b, master, b.vm.layout.process_group_leader, pid_of(9));
    put(&b, master, b.vm.layout.process_initial, fake_atom_term(SERVER));
    run(&b);
    assert_string_equal(application_at(&b, 3 * SECOND), "");
    put(&b, master, b.vm.layout.process_initial, fake_atom_term(MASTER));
    put(&b, master, b.vm.layout.process_stop, 0x10);
    run(&b);
    assert_string_equal(application_at(&b, 5 * SECOND), "");
    put(&b, master, b.vm.layout.process_stop, stop);
    run(&b);
    assert_string_equal(application_at(&b, 5 * SECOND + 1), "");
    assert_string_equal(application_at(&b, 7 * SECOND), "db");
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parent_is_an_entry_with_its_own_data),
        cmocka_unit_test(test_parents_in_a_circle_do_no_harm),
        cmocka_unit_test(test_nearest_ancestor_is_last_in_the_chain),
        cmocka_unit_test(test_application_is_that_of_the_group_leader),
        cmocka_unit_test(test_no_application_without_a_readable_master),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
