// SPDX-License-Identifier: Apache-2.0
/* The layout that DWARF describes: this program's, and debug information made by hand. */
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
        cmocka_unit_test(test_layout_is_read_from_dwarf),
        cmocka_unit_test(test_file_without_dwarf_leaves_the_layout_unchanged),
        cmocka_unit_test(test_struct_that_contains_itself_ends),
        cmocka_unit_test(test_typedef_of_itself_ends),
        cmocka_unit_test(test_loop_of_siblings_ends),
        cmocka_unit_test(test_layout_is_read_from_made_debug_info),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
