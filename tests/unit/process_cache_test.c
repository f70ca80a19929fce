// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "fake_target.h"
#include "symbol/process_cache.h"

static const char *const names[] = {"db",         "web",
                                    "m",          "init",
                                    "proc_lib",   "init_p",
                                    "server",     "$initial_call",
                                    "$ancestors", "application_master",
                                    "state",      "appl_data"};
enum {
    DB,
    WEB,
    M,
    INIT,
    PROC_LIB,
    INIT_P,
    SERVER,
    INITIAL_CALL,
    ANCESTORS,
    MASTER,
    STATE,
    APPL_DATA,
    NAMES,
};
enum { TABLE_SIZE = 64 };

static const uint64_t SECOND = 1000000000;

/* A VM of OTP 25 with one process, <0.41.0>, spawned with m:init/1. */
struct bench {
    struct fake_target *target;
    struct vm vm;
    struct atoms *atoms;
    struct profile *profile;
    struct process_cache *cache;
    uint64_t process, registered, table;
};

static void set(struct bench *bench, int32_t offset, uint64_t value)
{
    fake_put_u64(bench->target, bench->process + (uint64_t)offset, value);
}

static void spawn(struct bench *bench, uint64_t number, int module, int function)
{
    set(bench, bench->vm.layout.process_id, number << 32 | number << 4 | 3);
    set(bench, bench->vm.layout.process_initial, fake_atom_term((uint64_t)module));
    set(bench, bench->vm.layout.process_initial + 8, fake_atom_term((uint64_t)function));
    set(bench, bench->vm.layout.process_initial + 16, 1);
    set(bench, bench->vm.layout.process_reg, 0);
    set(bench, bench->vm.layout.process_dictionary, 0);
}

static void open_bench(struct bench *bench)
{
    struct error error;

    memset(bench, 0, sizeof(*bench));
    bench->target = fake_target_new();
    bench->vm = (struct vm){.memory = &bench->target->memory};
    fake_release(&bench->vm, 25);
    bench->vm.roots.atom_table = fake_room(bench->target, 128);
    bench->vm.roots.proc_table = fake_room(bench->target, 1024);
    fake_atom_table(bench->target, &bench->vm.layout, bench->vm.roots.atom_table, NAMES, names,
                    NAMES);
    bench->table = fake_room(bench->target, TABLE_SIZE * sizeof(uint64_t));
    fake_put_u64(bench->target, bench->vm.roots.proc_table + (uint64_t)bench->vm.layout.ptab_tab,
                 bench->table);
    fake_put_u32(bench->target, bench->vm.roots.proc_table + (uint64_t)bench->vm.layout.ptab_max,
                 TABLE_SIZE);
    bench->atoms = atoms_new(&bench->vm);
    bench->profile = profile_new();
    bench->process = fake_room(bench->target, (size_t)bench->vm.layout.sizeof_process);
    bench->registered = fake_room(bench->target, 64);
    spawn(bench, 41, M, INIT);
    bench->cache = process_cache_new(&bench->vm, bench->atoms, NULL, bench->profile, 0, &error);
    assert_non_null(bench->cache);
}

static void close_bench(struct bench *bench)
{
    process_cache_free(bench->cache);
    profile_free(bench->profile);
    atoms_free(bench->atoms);
    free(bench->target);
}

static process_id get(struct bench *bench, uint64_t time)
{
    return process_cache_get(bench->cache, bench->process,
                             bench->target->bytes + (bench->process - FAKE_BASE), time);
}

static void name(struct bench *bench, int atom)
{
    fake_put_u64(bench->target, bench->registered + (uint64_t)bench->vm.layout.regproc_process,
                 bench->process);
    fake_put_u64(bench->target, bench->registered + (uint64_t)bench->vm.layout.regproc_name,
                 fake_atom_term((uint64_t)atom));
}

static const char *name_of(struct bench *bench, process_id id)
{
    return profile_text(bench->profile, profile_get_process(bench->profile, id)->name);
}

/* A process becomes an entry with its pid, initial call and name. */
static void test_entry_has_pid_initial_call_and_name(void **state)
{
    const struct process_entry *entry;
    struct bench b;

    (void)state;
    open_bench(&b);
    name(&b, DB);
    set(&b, b.vm.layout.process_reg, b.registered);
    entry = profile_get_process(b.profile, get(&b, 1));
    assert_string_equal(profile_text(b.profile, entry->pid), "<0.41.0>");
    assert_string_equal(profile_text(b.profile, entry->initial_call), "m:init/1");
    assert_string_equal(profile_text(b.profile, entry->name), "db");
    assert_int_equal(entry->label, 0);
    close_bench(&b);
}

/* Change the reductions: the process has run for a while. */
static void run(struct bench *bench)
{
    static uint64_t reds;

    set(bench, bench->vm.layout.process_reds, ++reds);
}

/* Within a second the data of a process is not read again; a change that the struct does not show
 * is seen after that. */
static void test_data_of_a_process_is_kept_for_a_second(void **state)
{
    process_id first, later;
    struct bench b;

    (void)state;
    open_bench(&b);
    name(&b, DB);
    set(&b, b.vm.layout.process_reg, b.registered);
    first = get(&b, 10 * SECOND);
    name(&b, WEB);
    run(&b);
    assert_int_equal(get(&b, 10 * SECOND + SECOND / 2), first);
    later = get(&b, 11 * SECOND);
    assert_int_not_equal(later, first);
    assert_string_equal(name_of(&b, later), "web");
    close_bench(&b);
}

/* The data of a process that does not run is kept for a minute. A process that is running, or was
 * at the last look, counts as one that runs. */
static void test_data_of_a_resting_process_is_kept_for_a_minute(void **state)
{
    enum { RUNNING = 1 << 15 };
    process_id unnamed;
    struct bench b;

    (void)state;
    open_bench(&b);
    set(&b, b.vm.layout.process_reg, b.registered);
    unnamed = get(&b, 10 * SECOND);
    name(&b, DB);
    assert_int_equal(get(&b, 69 * SECOND), unnamed);
    assert_string_equal(name_of(&b, get(&b, 70 * SECOND)), "db");
    name(&b, WEB);
    fake_put_u32(b.target, b.process + (uint64_t)b.vm.layout.process_state, RUNNING);
    assert_string_equal(name_of(&b, get(&b, 71 * SECOND)), "web");
    name(&b, DB);
    assert_string_equal(name_of(&b, get(&b, 72 * SECOND)), "db");
    name(&b, WEB);
    fake_put_u32(b.target, b.process + (uint64_t)b.vm.layout.process_state, 0);
    assert_string_equal(name_of(&b, get(&b, 73 * SECOND)), "web");
    close_bench(&b);
}

/* A change of the name or of the dictionary pointer shows in the struct, and the data is read at
 * once. */
static void test_changed_name_or_dictionary_is_read_at_once(void **state)
{
    process_id unnamed, named;
    struct bench b;

    (void)state;
    open_bench(&b);
    unnamed = get(&b, SECOND);
    name(&b, DB);
    set(&b, b.vm.layout.process_reg, b.registered);
    named = get(&b, SECOND + 1);
    assert_string_equal(name_of(&b, named), "db");
    set(&b, b.vm.layout.process_reg, 0);
    assert_int_equal(get(&b, SECOND + 2), unnamed);
    close_bench(&b);
}

static void test_new_process_in_a_reused_struct_is_another_one(void **state)
{
    process_id first, second;
    struct bench b;

    (void)state;
    open_bench(&b);
    first = get(&b, SECOND);
    spawn(&b, 42, M, INIT);
    second = get(&b, SECOND + 1);
    assert_int_not_equal(first, second);
    assert_string_equal(profile_text(b.profile, profile_get_process(b.profile, second)->pid),
                        "<0.42.0>");
    close_bench(&b);
}

/* A process that proc_lib is starting soon has its initial call: its data is read each time. */
static void test_starting_process_is_read_each_time(void **state)
{
    uint64_t dictionary, call, pair;
    process_id first, later;
    struct bench b;

    (void)state;
    open_bench(&b);
    spawn(&b, 41, PROC_LIB, INIT_P);
    dictionary = fake_room(b.target, 64);
    set(&b, b.vm.layout.process_dictionary, dictionary);
    first = get(&b, SECOND);
    call = FAKE_TUPLE(b.target, 3, fake_atom_term(SERVER), fake_atom_term(INIT), fake_small(1));
    pair = FAKE_TUPLE(b.target, 2, fake_atom_term(INITIAL_CALL), call);
    fake_put_u32(b.target, dictionary + (uint64_t)b.vm.layout.procdict_used, 1);
    fake_put_u64(b.target, dictionary + (uint64_t)b.vm.layout.procdict_data, pair);
    later = get(&b, SECOND + 1);
    assert_int_not_equal(first, later);
    assert_string_equal(
        profile_text(b.profile, profile_get_process(b.profile, later)->initial_call),
        "server:init/1");
    close_bench(&b);
}

/* After a move to another profile, a process is an entry there, found by its struct or by its
 * pid. */
static void test_process_is_an_entry_after_a_move_to_another_profile(void **state)
{
    struct profile *next = profile_new();
    process_id id;
    struct bench b;

    (void)state;
    open_bench(&b);
    name(&b, DB);
    set(&b, b.vm.layout.process_reg, b.registered);
    get(&b, SECOND);
    for (int i = 0; i < 3; i++)
        profile_process(next, &(struct process_entry){.identity = (uint64_t)i});
    process_cache_move(b.cache, next, 0);
    profile_free(b.profile);
    b.profile = next;
    id = process_cache_find(b.cache, 41ull << 32 | 41 << 4 | 3, SECOND + 1);
    assert_int_equal(id, 4);
    id = get(&b, SECOND + 1);
    assert_string_equal(name_of(&b, id), "db");
    close_bench(&b);
}

static void test_struct_without_a_pid_is_no_process(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set(&b, b.vm.layout.process_id, fake_atom_term(3));
    assert_int_equal(get(&b, 1), 0);
    assert_int_equal(get(&b, 2), 0);
    close_bench(&b);
}

/* With more processes than the cache holds, each is found, and none is mistaken for another. */
static void test_processes_beyond_the_cache_size_are_not_confused(void **state)
{
    struct bench b;
    process_id first, id;

    (void)state;
    open_bench(&b);
    first = get(&b, 1);
    for (uint64_t number = 100; number < 100 + (1 << 18); number++) {
        set(&b, b.vm.layout.process_id, number << 32 | (number & 0x7fff) << 4 | 3);
        id = get(&b, 1);
        if (id == 0 || profile_get_process(b.profile, id)->identity >> 32 != number)
            fail_msg("process %u of table index %u", id, (unsigned)number);
    }
    spawn(&b, 41, M, INIT);
    assert_int_equal(get(&b, 1), first);
    close_bench(&b);
}

/* Pids are unknown without a readable process table. */
static void test_unreadable_process_table_is_an_error(void **state)
{
    struct error error = {0};
    struct bench b;

    (void)state;
    open_bench(&b);
    b.vm.roots.proc_table = 8;
    assert_null(process_cache_new(&b.vm, b.atoms, NULL, b.profile, 0, &error));
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    close_bench(&b);
}

/* ---- families ---- */

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

/* The application is that of the group leader, and is kept. */
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
        cmocka_unit_test(test_entry_has_pid_initial_call_and_name),
        cmocka_unit_test(test_data_of_a_process_is_kept_for_a_second),
        cmocka_unit_test(test_data_of_a_resting_process_is_kept_for_a_minute),
        cmocka_unit_test(test_changed_name_or_dictionary_is_read_at_once),
        cmocka_unit_test(test_new_process_in_a_reused_struct_is_another_one),
        cmocka_unit_test(test_starting_process_is_read_each_time),
        cmocka_unit_test(test_struct_without_a_pid_is_no_process),
        cmocka_unit_test(test_processes_beyond_the_cache_size_are_not_confused),
        cmocka_unit_test(test_unreadable_process_table_is_an_error),
        cmocka_unit_test(test_parent_is_an_entry_with_its_own_data),
        cmocka_unit_test(test_parents_in_a_circle_do_no_harm),
        cmocka_unit_test(test_nearest_ancestor_is_last_in_the_chain),
        cmocka_unit_test(test_application_is_that_of_the_group_leader),
        cmocka_unit_test(test_no_application_without_a_readable_master),
        cmocka_unit_test(test_process_is_an_entry_after_a_move_to_another_profile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
