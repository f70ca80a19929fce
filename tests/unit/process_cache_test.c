// SPDX-License-Identifier: Apache-2.0
/* The entry of a process: its data, and how long they are valid. */
#include "process_cache_bench.h"

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

/* Within a second, or another time that is set, the data of a process is not read again; after
 * that, a change is seen that the struct does not show. */
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
    process_cache_set_pace(b.cache, 5 * SECOND);
    name(&b, DB);
    run(&b);
    assert_int_equal(get(&b, 16 * SECOND - 1), later);
    assert_int_equal(get(&b, 16 * SECOND), first);
    close_bench(&b);
}

/* The data of a process that does not run is kept for a minute. A process that is running, or was
 * running at the last look, counts as running. */
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

/* A process can collect while it is read, which moves its names. What was known stays, and the
 * process is read again soon. A process that keeps having less has it less. */
static void test_reading_that_has_less_is_doubted(void **state)
{
    enum { RUNNING = 1 << 15, READINGS = 10 };
    const uint64_t soon = SECOND / 10;
    uint64_t dictionary, call, pair, now = 2 * SECOND;
    process_id whole, less;
    struct bench b;

    (void)state;
    open_bench(&b);
    spawn(&b, 41, PROC_LIB, INIT_P);
    fake_put_u32(b.target, b.process + (uint64_t)b.vm.layout.process_state, RUNNING);
    call = FAKE_TUPLE(b.target, 3, fake_atom_term(SERVER), fake_atom_term(INIT), fake_small(1));
    pair = FAKE_TUPLE(b.target, 2, fake_atom_term(INITIAL_CALL), call);
    dictionary = fake_room(b.target, 64);
    fake_put_u32(b.target, dictionary + (uint64_t)b.vm.layout.procdict_used, 1);
    fake_put_u64(b.target, dictionary + (uint64_t)b.vm.layout.procdict_data, pair);
    set(&b, b.vm.layout.process_dictionary, dictionary);
    whole = get(&b, SECOND);
    fake_put_u64(b.target, dictionary + (uint64_t)b.vm.layout.procdict_data, 0);
    assert_int_equal(get(&b, now), whole);
    fake_put_u64(b.target, dictionary + (uint64_t)b.vm.layout.procdict_data, pair);
    now += soon;
    assert_int_equal(get(&b, now), whole);
    fake_put_u64(b.target, dictionary + (uint64_t)b.vm.layout.procdict_data, 0);
    assert_int_equal(get(&b, now + SECOND - 1), whole); /* for a second again */
    now += SECOND;
    for (int i = 0; i < READINGS; i++, now += soon)
        assert_int_equal(get(&b, now), whole);
    less = get(&b, now);
    assert_int_not_equal(less, whole);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entry_has_pid_initial_call_and_name),
        cmocka_unit_test(test_data_of_a_process_is_kept_for_a_second),
        cmocka_unit_test(test_data_of_a_resting_process_is_kept_for_a_minute),
        cmocka_unit_test(test_changed_name_or_dictionary_is_read_at_once),
        cmocka_unit_test(test_new_process_in_a_reused_struct_is_another_one),
        cmocka_unit_test(test_starting_process_is_read_each_time),
        cmocka_unit_test(test_reading_that_has_less_is_doubted),
        cmocka_unit_test(test_struct_without_a_pid_is_no_process),
        cmocka_unit_test(test_processes_beyond_the_cache_size_are_not_confused),
        cmocka_unit_test(test_unreadable_process_table_is_an_error),
        cmocka_unit_test(test_process_is_an_entry_after_a_move_to_another_profile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
