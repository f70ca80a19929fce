// SPDX-License-Identifier: Apache-2.0
/* The layouts of the built-in tables, and the check of a layout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "beam/layout.h"

static struct build jit(int release)
{
    return (struct build){.otp_release = release,
                          .erts = "99",
                          .jit = true,
                          .native_stack = true,
                          .frame_pointer_field = true};
}

static struct layout table(const struct build *build)
{
    struct layout layout;
    struct error error;

    assert_int_equal(layout_from_table(build, &layout, &error), 0);
    return layout;
}

/* Each release has its own column: fields that moved between releases have the right offsets. */
static void test_fields_have_the_offsets_of_their_release(void **state)
{
    static const struct {
        int release, size, reds, atom_name, export_info;
    } expected[] = {
        {24, 744, 272, 32, 40}, {25, 776, 280, 32, 40}, {26, 776, 280, 32, 40},
        {27, 760, 272, 32, 48}, {28, 760, 272, -1, 48}, {29, 768, 272, -1, 48},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        struct build build = jit(expected[i].release);
        struct layout layout = table(&build);

        assert_int_equal(layout.sizeof_process, expected[i].size);
        assert_int_equal(layout.process_reds, expected[i].reds);
        assert_int_equal(layout.atom_name, expected[i].atom_name);
        assert_int_equal(layout.export_info, expected[i].export_info);
    }
}

/* Each row has a value for each release: a row that is too short would end in zeros. */
static void test_each_row_has_a_value_for_each_release(void **state)
{
    enum { RELEASES = NEWEST_RELEASE - OLDEST_RELEASE + 1 };
    static const struct {
        const char *member;
        size_t values;
    } rows[] = {
#define LAYOUT_COLUMNS(member, ...) {#member, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)},
#define LAYOUT_INTERPRETER          LAYOUT_COLUMNS
#include "beam/layout_tables.h"
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].values != RELEASES)
            fail_msg("%s has %zu values", rows[i].member, rows[i].values);
}

/* All built-in tables pass the check for layouts from DWARF. */
static void test_built_in_tables_pass_the_check_for_layouts(void **state)
{
    struct error error;

    (void)state;
    for (int release = OLDEST_RELEASE; release <= NEWEST_RELEASE; release++) {
        struct build build = jit(release);
        struct layout layout = table(&build);

        assert_int_equal(layout_check(&layout, &error), 0);
        build.jit = build.frame_pointer_field = false;
        build.vm_probes = true;
        layout = table(&build);
        assert_int_equal(layout_check(&layout, &error), 0);
    }
}

/* Without Process.frame_pointer (musl), all fields after `stop` are 8 bytes lower, and no
 * others. */
static void test_fields_move_without_the_frame_pointer(void **state)
{
    struct build build = jit(27);
    struct layout with = table(&build), without;

    (void)state;
    build.frame_pointer_field = false;
    without = table(&build);
    assert_int_equal(without.process_frame_pointer, -1);
    assert_int_equal(without.process_stop, with.process_stop);
    assert_int_equal(without.process_reg, with.process_reg);
    assert_int_equal(without.process_state, 616);
    assert_int_equal(without.process_i, 240);
    assert_int_equal(without.sizeof_process, 752);
    assert_int_equal(without.sched_current_process, with.sched_current_process);
    assert_int_equal(without.port_name, with.port_name);
}

/* Until 26, USE_VM_PROBES moves the fields after Process.u; from 27 on, only the end. */
static void test_fields_move_with_vm_probes(void **state)
{
    struct build build = jit(25);
    struct layout layout;

    (void)state;
    build.vm_probes = true;
    layout = table(&build);
    assert_int_equal(layout.process_dictionary, 416);
    assert_int_equal(layout.process_initial, 464);
    assert_int_equal(layout.process_state, 656);
    assert_int_equal(layout.sizeof_process, 792);
    assert_int_equal(layout.message_hfrag, 48);
    build.otp_release = 27;
    layout = table(&build);
    assert_int_equal(layout.process_state, 624);
    assert_int_equal(layout.sizeof_process, 776);
}

/* The interpreter has other registers and export entries, and the same Process. */
static void test_interpreter_has_other_registers_and_export_entries(void **state)
{
    struct build build = jit(25);
    struct layout layout;

    (void)state;
    build.jit = build.native_stack = false;
    layout = table(&build);
    assert_int_equal(layout.x_reg_array, 64);
    assert_int_equal(layout.export_info, 32);
    assert_int_equal(layout.process_i, 256);
    build.otp_release = 29;
    assert_int_equal(table(&build).export_trampoline, 80);
}

/* The first versions of 24 and 25 have smaller schedulers. */
static void test_early_versions_have_smaller_schedulers(void **state)
{
    struct build build = jit(24);

    (void)state;
    strcpy(build.erts, "12.1.5");
    assert_int_equal(table(&build).sizeof_sched_aligned, 41856);
    strcpy(build.erts, "12.3.2.4");
    assert_int_equal(table(&build).sizeof_sched_aligned, 41728);
    build.otp_release = 25;
    strcpy(build.erts, "13.0.4");
    assert_int_equal(table(&build).sched_reductions, 41632);
    strcpy(build.erts, "13.1.5");
    assert_int_equal(table(&build).sched_reductions, 41640);
}

/* A build without a table is refused by name, and no field is set. */
static void test_build_without_a_table_is_refused_by_name(void **state)
{
    struct build newer = jit(NEWEST_RELEASE + 1), older = jit(OLDEST_RELEASE - 1);
    struct build locks = jit(NEWEST_RELEASE);
    struct layout layout = {.process_i = 77};
    struct error error;

    (void)state;
    strcpy(locks.special, "lock-counting");
    assert_int_equal(layout_from_table(&newer, &layout, &error), -1);
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "--assume-release"));
    assert_int_equal(layout_from_table(&older, &layout, &error), -1);
    assert_non_null(strstr(error.text, "not supported"));
    assert_int_equal(layout_from_table(&locks, &layout, &error), -1);
    assert_non_null(strstr(error.text, "lock-counting"));
    assert_int_equal(layout.process_i, 77);
}

/* A layout with a field outside of its struct, or without a required field, is refused. */
static void test_layout_with_a_field_outside_its_struct_is_refused(void **state)
{
    struct build build = jit(27);
    struct layout layout = table(&build);
    struct error error;

    (void)state;
    layout.process_initial = layout.sizeof_process - 4;
    assert_int_equal(layout_check(&layout, &error), -1);
    assert_non_null(strstr(error.text, "Process.u.initial"));
    layout = table(&build);
    layout.sizeof_process = 1 << 19;
    assert_int_equal(layout_check(&layout, &error), -1);
    layout = table(&build);
    layout.atom_len = -1;
    assert_int_equal(layout_check(&layout, &error), -1);
    assert_non_null(strstr(error.text, "Atom.len"));
}

/* The name of an atom is in one field until 27, and in another one from 28 on. */
static void test_layout_with_neither_form_of_atoms_is_refused(void **state)
{
    struct error error;

    (void)state;
    for (int release = OLDEST_RELEASE; release <= NEWEST_RELEASE; release++) {
        struct build build = jit(release);
        struct layout layout = table(&build);

        layout.atom_name = layout.atom_bin = -1;
        assert_int_equal(layout_check(&layout, &error), -1);
        assert_non_null(strstr(error.text, "Atom.name"));
    }
}

/* All words that are read of a field lie within the struct: the three words of the initial call,
 * and the argument register that holds the reductions. */
static void test_field_whose_last_word_is_outside_is_refused(void **state)
{
    struct build build = jit(27);
    struct layout layout = table(&build);
    struct error error;

    (void)state;
    layout.process_initial = layout.sizeof_process - 24;
    assert_int_equal(layout_check(&layout, &error), 0);
    layout.process_initial = layout.sizeof_process - 16;
    assert_int_equal(layout_check(&layout, &error), -1);
    assert_non_null(strstr(error.text, "Process.u.initial"));
    layout = table(&build);
    layout.process_def_arg_reg = layout.sizeof_process - 48;
    assert_int_equal(layout_check(&layout, &error), 0);
    layout.process_def_arg_reg += 8;
    assert_int_equal(layout_check(&layout, &error), -1);
    assert_non_null(strstr(error.text, "Process.def_arg_reg"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_have_the_offsets_of_their_release),
        cmocka_unit_test(test_each_row_has_a_value_for_each_release),
        cmocka_unit_test(test_built_in_tables_pass_the_check_for_layouts),
        cmocka_unit_test(test_fields_move_without_the_frame_pointer),
        cmocka_unit_test(test_fields_move_with_vm_probes),
        cmocka_unit_test(test_interpreter_has_other_registers_and_export_entries),
        cmocka_unit_test(test_early_versions_have_smaller_schedulers),
        cmocka_unit_test(test_build_without_a_table_is_refused_by_name),
        cmocka_unit_test(test_layout_with_a_field_outside_its_struct_is_refused),
        cmocka_unit_test(test_layout_with_neither_form_of_atoms_is_refused),
        cmocka_unit_test(test_field_whose_last_word_is_outside_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
