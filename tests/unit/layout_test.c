// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "beam/layout.h"
#include "native/parser.h"

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
        int release, size, reds, atom_name, functions;
    } expected[] = {
        {24, 744, 272, 32, 88},  {25, 776, 280, 32, 96},  {26, 776, 280, 32, 96},
        {27, 760, 272, 32, 136}, {28, 760, 272, -1, 152}, {29, 768, 272, -1, 152},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        struct build build = jit(expected[i].release);
        struct layout layout = table(&build);

        assert_int_equal(layout.sizeof_process, expected[i].size);
        assert_int_equal(layout.process_reds, expected[i].reds);
        assert_int_equal(layout.atom_name, expected[i].atom_name);
        assert_int_equal(layout.code_header_functions, expected[i].functions);
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

/* The interpreter has other registers and code headers, and the same Process. */
static void test_interpreter_has_other_registers_and_code_headers(void **state)
{
    struct build build = jit(25);
    struct layout layout;

    (void)state;
    build.jit = build.native_stack = false;
    layout = table(&build);
    assert_int_equal(layout.x_reg_array, 64);
    assert_int_equal(layout.export_mfa, 48);
    assert_int_equal(layout.registers_tmp_mem, -1);
    assert_int_equal(layout.process_i, 256);
    build.otp_release = 29;
    assert_int_equal(table(&build).code_header_functions, 104);
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
    assert_int_equal(table(&build).sched_thr_id, 41580);
    strcpy(build.erts, "13.1.5");
    assert_int_equal(table(&build).sched_thr_id, 41588);
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

/*
 * Structs named as in the VM, in the DWARF of this test.
 */
typedef struct fake_process Process;
struct fake_process {
    struct {
        uint64_t id;
        union {
            struct {
                char padding[24];
                void *reg;
            } alive;
            uint64_t release;
        } u;
    } common;
    uint64_t *htop;
    union { /* anonymous: its members belong to the process */
        uint64_t *stop;
        uint64_t other;
    };
    struct {
        int len;
    } sig_qs;
};

struct erl_module {
    int unused;
    int module;
};

/* Variables, so that the compiler emits the DWARF of their types. */
static Process a_process;
static struct erl_module a_module;

static bool from_dwarf(int fd, struct layout *layout)
{
    struct parser *parser = parser_start();
    bool filled = layout_from_dwarf(parser, fd, layout);

    parser_release(parser);
    return filled;
}

/* DWARF of the executable gives offsets, sizes, and members of anonymous unions and nested structs.
 * Absent members become -1; rows of structs without DWARF stay. */
static void test_layout_is_read_from_dwarf(void **state)
{
    struct layout layout = {.process_i = 5, .ptab_tab = 6};
    int fd = open("/proc/self/exe", O_RDONLY);

    (void)state;
    a_process.common.id = (uint64_t)a_module.module;
    assert_true(from_dwarf(fd, &layout));
    close(fd);
    assert_int_equal(layout.sizeof_process, sizeof(Process));
    assert_int_equal(layout.process_id, 0);
    assert_int_equal(layout.process_reg, offsetof(Process, common.u.alive.reg));
    assert_int_equal(layout.process_htop, offsetof(Process, htop));
    assert_int_equal(layout.process_stop, offsetof(Process, stop));
    assert_int_equal(layout.process_msgq_len, offsetof(Process, sig_qs.len));
    assert_int_equal(layout.module_name, 4);
    assert_int_equal(layout.process_i, -1);
    assert_int_equal(layout.ptab_tab, 6);
}

/* A file that is not ELF has no DWARF: no error, and no field is set. */
static void test_file_without_dwarf_leaves_the_layout_unchanged(void **state)
{
    struct layout layout = {.process_i = 5};
    int fd = memfd_create("empty", 0);

    (void)state;
    assert_false(from_dwarf(fd, &layout));
    assert_int_equal(layout.process_i, 5);
    close(fd);
}

/*
 * Debug information that leads around in circles: one unit, whose entries are written by hand.
 */

struct debug_info {
    uint8_t info[4096];
    uint32_t size;
};

static void put(struct debug_info *debug, const void *bytes, size_t size)
{
    assert_true(debug->size + size <= sizeof(debug->info));
    memcpy(debug->info + debug->size, bytes, size);
    debug->size += (uint32_t)size;
}

static void put_byte(struct debug_info *debug, uint8_t byte)
{
    put(debug, &byte, sizeof(byte));
}

/* The kinds of entries, by their code in ABBREVIATIONS. */
enum { END, UNIT, TYPEDEF, STRUCT, ANONYMOUS_MEMBER, WITH_SIBLING };

/* code, tag, has children, {attribute, form}..., 0, 0 (DWARF 4, 7.5.3) */
static const uint8_t ABBREVIATIONS[] = {
    UNIT,
    0x11,
    1,
    0,
    0, /* DW_TAG_compile_unit */
    TYPEDEF,
    0x16,
    0,
    0x03,
    0x08,
    0x49,
    0x13,
    0,
    0, /* name, type */
    STRUCT,
    0x13,
    1,
    0x0b,
    0x0b,
    0,
    0, /* byte_size */
    ANONYMOUS_MEMBER,
    0x0d,
    0,
    0x49,
    0x13,
    0x38,
    0x0b,
    0,
    0, /* type, location */
    WITH_SIBLING,
    0x13,
    1,
    0x01,
    0x13,
    0,
    0, /* sibling */
    END,
};

static void put_reference(struct debug_info *debug, uint8_t code, uint32_t to)
{
    put_byte(debug, code);
    put(debug, &to, sizeof(to));
}

static void put_typedef(struct debug_info *debug, const char *name, uint32_t to)
{
    put_byte(debug, TYPEDEF);
    put(debug, name, strlen(name) + 1);
    put(debug, &to, sizeof(to));
}

/* A unit with DWARF 4 and 64-bit addresses (7.5.1.1). */
static struct debug_info new_unit(void)
{
    static const uint8_t header[] = {0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, UNIT};
    struct debug_info debug = {.size = 0};

    put(&debug, header, sizeof(header));
    return debug;
}

/* Read the layout of an ELF file with this debug information. */
static int read_debug_info(struct debug_info *debug, struct layout *layout)
{
    static const char names[] = "\0.debug_info\0.debug_abbrev\0.shstrtab";
    Elf64_Ehdr header = {.e_ident = ELFMAG "\2\1\1",
                         .e_type = ET_EXEC,
                         .e_machine = EM_X86_64,
                         .e_version = 1,
                         .e_shoff = sizeof(header),
                         .e_ehsize = sizeof(header),
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = 4,
                         .e_shstrndx = 3};
    uint32_t at = sizeof(header) + 4 * sizeof(Elf64_Shdr), length = debug->size - 4;
    Elf64_Shdr sections[4] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = at, .sh_size = debug->size},
        {.sh_name = 13,
         .sh_type = SHT_PROGBITS,
         .sh_offset = at + debug->size,
         .sh_size = sizeof(ABBREVIATIONS)},
        {.sh_name = 27,
         .sh_type = SHT_STRTAB,
         .sh_offset = at + debug->size + sizeof(ABBREVIATIONS),
         .sh_size = sizeof(names)},
    };
    int fd = memfd_create("debug", 0), result;

    memcpy(debug->info, &length, sizeof(length));
    assert_int_equal(write(fd, &header, sizeof(header)), sizeof(header));
    assert_int_equal(write(fd, sections, sizeof(sections)), sizeof(sections));
    assert_int_equal(write(fd, debug->info, debug->size), debug->size);
    assert_int_equal(write(fd, ABBREVIATIONS, sizeof(ABBREVIATIONS)), sizeof(ABBREVIATIONS));
    assert_int_equal(write(fd, names, sizeof(names)), sizeof(names));
    alarm(20);
    result = from_dwarf(fd, layout);
    alarm(0);
    close(fd);
    return result;
}

/* A struct with anonymous members of its own type is given up: there is no layout in it. */
static void test_struct_that_contains_itself_ends(void **state)
{
    struct debug_info debug = new_unit();
    struct layout layout;
    uint32_t self = debug.size;

    (void)state;
    put(&debug, (const uint8_t[]){STRUCT, 8}, 2);
    for (int i = 0; i < 60; i++) {
        put_reference(&debug, ANONYMOUS_MEMBER, self);
        put_byte(&debug, 0);
    }
    put_byte(&debug, END);
    put_typedef(&debug, "Process", self);
    put_byte(&debug, END);
    assert_int_equal(read_debug_info(&debug, &layout), 0);
}

/* A typedef of itself is no struct. */
static void test_typedef_of_itself_ends(void **state)
{
    struct debug_info debug = new_unit();
    struct layout layout;

    (void)state;
    put_typedef(&debug, "Process", debug.size);
    put_byte(&debug, END);
    assert_int_equal(read_debug_info(&debug, &layout), 0);
}

/* An entry whose next sibling is itself is given up. */
static void test_loop_of_siblings_ends(void **state)
{
    struct debug_info debug = new_unit();
    struct layout layout;

    (void)state;
    put_reference(&debug, WITH_SIBLING, debug.size);
    put_byte(&debug, END);
    put_byte(&debug, END);
    assert_int_equal(read_debug_info(&debug, &layout), 0);
}

/* The hand-made debug information is read where it is right. */
static void test_layout_is_read_from_made_debug_info(void **state)
{
    struct debug_info debug = new_unit();
    struct layout layout;
    uint32_t self = debug.size;

    (void)state;
    put(&debug, (const uint8_t[]){STRUCT, 72, END}, 3);
    put_typedef(&debug, "Process", self);
    put_byte(&debug, END);
    assert_int_equal(read_debug_info(&debug, &layout), 1);
    assert_int_equal(layout.sizeof_process, 72);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_have_the_offsets_of_their_release),
        cmocka_unit_test(test_each_row_has_a_value_for_each_release),
        cmocka_unit_test(test_built_in_tables_pass_the_check_for_layouts),
        cmocka_unit_test(test_fields_move_without_the_frame_pointer),
        cmocka_unit_test(test_fields_move_with_vm_probes),
        cmocka_unit_test(test_interpreter_has_other_registers_and_code_headers),
        cmocka_unit_test(test_early_versions_have_smaller_schedulers),
        cmocka_unit_test(test_build_without_a_table_is_refused_by_name),
        cmocka_unit_test(test_layout_with_a_field_outside_its_struct_is_refused),
        cmocka_unit_test(test_layout_is_read_from_dwarf),
        cmocka_unit_test(test_file_without_dwarf_leaves_the_layout_unchanged),
        cmocka_unit_test(test_struct_that_contains_itself_ends),
        cmocka_unit_test(test_typedef_of_itself_ends),
        cmocka_unit_test(test_loop_of_siblings_ends),
        cmocka_unit_test(test_layout_is_read_from_made_debug_info),
        cmocka_unit_test(test_field_whose_last_word_is_outside_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
