// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "beam/process_info.h"
#include "fake_target.h"

static const char *const names[] = {"false",         "true",           "logger",
                                    "proc_lib",      "init_p",         "db",
                                    "$initial_call", "$process_label", "$ancestors"};
enum { FALSE, TRUE, LOGGER, PROC_LIB, INIT_P, DB, INITIAL_CALL, LABEL, ANCESTORS };

static struct fake_target *target;
static struct vm vm;
static struct atoms *atoms;
static struct pid_encoding encoding;
static uint64_t process;

static int start(void **state)
{
    (void)state;
    target = fake_target_new();
    atoms = fake_vm_with_atoms(target, &vm, 25, names, 9);
    encoding = (struct pid_encoding){0};
    process = fake_room(target, (size_t)vm.layout.sizeof_process);
    fake_put_u64(target, process, (uint64_t)3 << 32 | 41 << 4 | 3);
    fake_put_u64(target, process + (uint64_t)vm.layout.process_initial, fake_atom_term(PROC_LIB));
    fake_put_u64(target, process + (uint64_t)vm.layout.process_initial + 8, fake_atom_term(INIT_P));
    fake_put_u64(target, process + (uint64_t)vm.layout.process_initial + 16, 5);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    atoms_free(atoms);
    free(target);
    return 0;
}

static void set(int32_t offset, uint64_t value)
{
    fake_put_u64(target, process + (uint64_t)offset, value);
}

static const struct name_keys *keys;

static struct process_info info(void)
{
    struct process_info info;

    assert_true(process_info_read(&vm, atoms, &encoding, keys, process,
                                  target->bytes + (process - FAKE_BASE), &info));
    return info;
}

/* Give the process a dictionary of two slots. */
static void set_dictionary(uint64_t first, uint64_t second)
{
    uint64_t dictionary = fake_room(target, 24 + 16);

    fake_put_u32(target, dictionary + (uint64_t)vm.layout.procdict_used, 2);
    fake_put_u64(target, dictionary + (uint64_t)vm.layout.procdict_data, first);
    fake_put_u64(target, dictionary + (uint64_t)vm.layout.procdict_data + 8, second);
    set(vm.layout.process_dictionary, dictionary);
}

static void test_plain_process_has_pid_and_initial_call(void **state)
{
    struct process_info read = info();

    (void)state;
    assert_string_equal(read.pid, "<0.41.0>");
    assert_string_equal(read.name, "");
    assert_string_equal(read.label, "");
    assert_string_equal(read.initial_call, "proc_lib:init_p/5");
}

/* The registered name is read, unless the entry belongs to another process by now or is not
 * readable. */
static void test_registered_name_of_another_process_is_not_taken(void **state)
{
    uint64_t entry = fake_room(target, 40);

    (void)state;
    fake_put_u64(target, entry + (uint64_t)vm.layout.regproc_process, process);
    fake_put_u64(target, entry + (uint64_t)vm.layout.regproc_name, fake_atom_term(LOGGER));
    set(vm.layout.process_reg, entry);
    assert_string_equal(info().name, "logger");
    fake_put_u64(target, entry + (uint64_t)vm.layout.regproc_process, process + 64);
    assert_string_equal(info().name, "");
    set(vm.layout.process_reg, 0x40);
    assert_string_equal(info().name, "");
}

/* Initial call and label are found alone in a slot, and among other pairs of a slot. */
static void test_initial_call_and_label_are_found_in_the_dictionary(void **state)
{
    uint64_t call =
        FAKE_TUPLE(target, 3, fake_atom_term(DB), fake_atom_term(LOGGER), fake_small(1));
    uint64_t label = FAKE_TUPLE(target, 2, fake_atom_term(DB), fake_small(12));
    uint64_t other = FAKE_TUPLE(target, 2, fake_small(1), 0x3b);
    uint64_t call_entry = FAKE_TUPLE(target, 2, fake_atom_term(INITIAL_CALL), call);
    uint64_t label_entry = FAKE_TUPLE(target, 2, fake_atom_term(LABEL), label);

    (void)state;
    set_dictionary(fake_cons(target, other, fake_cons(target, call_entry, 0x3b)), label_entry);
    assert_string_equal(info().initial_call, "db:logger/1");
    assert_string_equal(info().label, "{db,12}");
    set_dictionary(0x3b, other);
    assert_string_equal(info().initial_call, "proc_lib:init_p/5");
    assert_string_equal(info().label, "");
}

/* Wrong values, circular lists and slots without a number do no harm and give no text. */
static void test_damaged_dictionary_gives_no_text(void **state)
{
    uint64_t bad_call = FAKE_TUPLE(target, 2, fake_atom_term(INITIAL_CALL), fake_small(1));
    uint64_t bad_label = FAKE_TUPLE(target, 2, fake_atom_term(LABEL), 0x7777777777777772);
    uint64_t cycle = fake_cons(target, bad_call, 0);

    (void)state;
    fake_put_u64(target, cycle + 7, cycle);
    set_dictionary(bad_label, cycle);
    assert_string_equal(info().initial_call, "proc_lib:init_p/5");
    assert_string_equal(info().label, "");
    set(vm.layout.process_dictionary, vm.roots.atom_table);
    assert_string_equal(info().pid, "<0.41.0>");
    set(vm.layout.process_dictionary, 0x10);
    assert_string_equal(info().label, "");
}

/* The parent, and the ancestors: names and pids of this node. */
static void test_parent_and_ancestors_are_read(void **state)
{
    const uint64_t pid = (uint64_t)9 << 32 | 77 << 4 | 3;
    uint64_t external = FAKE_TUPLE(target, 1, 0);
    uint64_t list = fake_cons(target, pid, fake_cons(target, fake_atom_term(DB), 0x3b));
    struct process_info read;

    (void)state;
    assert_int_equal(info().parent, 0);
    assert_int_equal(info().group_leader, 0);
    assert_int_equal(info().ancestor_count, 0);
    set(vm.layout.process_parent, pid);
    set(vm.layout.process_group_leader, pid + 16);
    set_dictionary(FAKE_TUPLE(target, 2, fake_atom_term(ANCESTORS), list), 0x3b);
    read = info();
    assert_int_equal(read.parent, pid);
    assert_int_equal(read.group_leader, pid + 16);
    assert_int_equal(read.ancestor_count, 2);
    assert_int_equal(read.ancestors[0], pid);
    assert_int_equal(read.ancestors[1], fake_atom_term(DB));
    set(vm.layout.process_parent, external);
    set(vm.layout.process_group_leader, fake_atom_term(DB));
    set_dictionary(FAKE_TUPLE(target, 2, fake_atom_term(ANCESTORS), fake_cons(target, pid, 1)),
                   0x3b);
    read = info();
    assert_int_equal(read.parent, 0);
    assert_int_equal(read.group_leader, 0);
    assert_int_equal(read.ancestor_count, 1);
}

/* A circular list, or a word that is not a list, gives at most as many ancestors as there is room
 * for. */
static void test_circular_list_of_ancestors_is_limited(void **state)
{
    uint64_t cycle = fake_cons(target, fake_atom_term(DB), 0);

    (void)state;
    fake_put_u64(target, cycle + 7, cycle);
    set_dictionary(FAKE_TUPLE(target, 2, fake_atom_term(ANCESTORS), cycle), 0x3b);
    assert_int_equal(info().ancestor_count, ANCESTORS_MAX);
    fake_put_u64(target, cycle - 1, fake_small(7)); /* elements that are not ancestors count too */
    assert_int_equal(info().ancestor_count, 0);
    set_dictionary(FAKE_TUPLE(target, 2, fake_atom_term(ANCESTORS), fake_small(3)), 0x3b);
    assert_int_equal(info().ancestor_count, 0);
}

/* Without a local pid (freed memory, a port) there is no process. */
static void test_struct_without_a_local_pid_is_no_process(void **state)
{
    struct process_info read = {.id = 7};

    (void)state;
    fake_put_u64(target, process, (uint64_t)3 << 32 | 41 << 4 | 7);
    assert_false(process_info_read(&vm, atoms, &encoding, keys, process,
                                   target->bytes + (process - FAKE_BASE), &read));
    assert_int_equal(read.id, 7);
}

/* Both encodings of pids, with values from real nodes; the second needs the table's masks. */
static void test_both_encodings_of_pids_are_decoded(void **state)
{
    const struct pid_encoding wide = {.wide = true,
                                      .pix_mask = 0xfffff,
                                      .pix_cl_mask = 0x1ffff,
                                      .pix_cl_shift = 3,
                                      .pix_cli_mask = 7,
                                      .pix_cli_shift = 17};
    char text[48];

    (void)state;
    assert_true(
        pid_encoding_format(&encoding, (uint64_t)7 << 32 | (9 << 15 | 5535) << 4 | 3, text, 48));
    assert_string_equal(text, "<0.5535.9>");
    assert_int_equal(pid_encoding_index(&encoding, (uint64_t)7 << 32 | 0x533), 7);
    assert_true(pid_encoding_format(&wide, 0x2a83, text, sizeof(text)));
    assert_string_equal(text, "<0.85.0>");
    assert_int_equal(pid_encoding_index(&wide, 0x2a83), 0x2a8);
    assert_true(pid_encoding_format(&wide, (uint64_t)1 << 32 | 0x2a83, text, sizeof(text)));
    assert_string_equal(text, "<0.85.1>");
    assert_int_equal(pid_encoding_term(&encoding, 5535, 9), (9 << 15 | 5535) << 4 | 3);
    assert_int_equal(pid_encoding_term(&wide, 85, 0), 0x2a83);
    assert_int_equal(pid_encoding_term(&wide, 85, 1), (uint64_t)1 << 32 | 0x2a83);
    assert_int_equal(pid_encoding_term(&encoding, 1 << 15, 0), 0);
    assert_int_equal(pid_encoding_term(&wide, 0, (uint64_t)1 << 32), 0);
    assert_false(pid_encoding_format(&wide, 0x2a87, text, sizeof(text)));
    assert_true(pid_encoding_format_port(&wide, 0x2a87, text, sizeof(text)));
    assert_string_equal(text, "#Port<0.85>");
    assert_false(pid_encoding_format_port(&wide, 0x2a83, text, sizeof(text)));
}

/* The first condition that is true decides, as in erts_process_state2status(). */
static void test_first_true_condition_decides_the_status(void **state)
{
    (void)state;
    assert_int_equal(process_info_status(&vm, 0), STATUS_WAITING);
    assert_int_equal(process_info_status(&vm, 0x2000), STATUS_RUNNABLE);
    assert_int_equal(process_info_status(&vm, 0xa000), STATUS_RUNNING);
    assert_int_equal(process_info_status(&vm, 0x20000000), STATUS_RUNNING);
    assert_int_equal(process_info_status(&vm, 0x1a000), STATUS_SUSPENDED);
    assert_int_equal(process_info_status(&vm, 0x3a000), STATUS_GARBAGE_COLLECTING);
    assert_int_equal(process_info_status(&vm, 0x3a800), STATUS_EXITING);
    assert_int_equal(process_info_status(&vm, 0x3ac00), STATUS_FREE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plain_process_has_pid_and_initial_call, start, stop),
        cmocka_unit_test_setup_teardown(test_registered_name_of_another_process_is_not_taken, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_initial_call_and_label_are_found_in_the_dictionary,
                                        start, stop),
        cmocka_unit_test_setup_teardown(test_damaged_dictionary_gives_no_text, start, stop),
        cmocka_unit_test_setup_teardown(test_parent_and_ancestors_are_read, start, stop),
        cmocka_unit_test_setup_teardown(test_circular_list_of_ancestors_is_limited, start, stop),
        cmocka_unit_test_setup_teardown(test_struct_without_a_local_pid_is_no_process, start, stop),
        cmocka_unit_test_setup_teardown(test_both_encodings_of_pids_are_decoded, start, stop),
        cmocka_unit_test_setup_teardown(test_first_true_condition_decides_the_status, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
