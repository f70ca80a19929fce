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

#include "elf/elf_limits.h"

enum { SECTIONS = 3, MB = 1 << 20 };

/* A file with one section between the first section and the section of names. */
struct made {
    Elf64_Ehdr header;
    Elf64_Shdr sections[SECTIONS];
    Elf64_Chdr packed;
    char names[32];
};

static struct made made_with(const char *name, uint32_t type, uint64_t flags, uint64_t size)
{
    struct made made = {
        .header = {.e_ident = ELFMAG "\2\1\1",
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_shoff = offsetof(struct made, sections),
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = SECTIONS,
                   .e_shstrndx = SECTIONS - 1},
        .packed = {.ch_type = ELFCOMPRESS_ZLIB, .ch_addralign = 1},
    };

    made.sections[1] = (Elf64_Shdr){.sh_name = 1,
                                    .sh_type = type,
                                    .sh_flags = flags,
                                    .sh_offset = offsetof(struct made, packed),
                                    .sh_size = size};
    made.sections[2] = (Elf64_Shdr){.sh_name = 0,
                                    .sh_type = SHT_STRTAB,
                                    .sh_offset = offsetof(struct made, names),
                                    .sh_size = sizeof(made.names)};
    strcpy(made.names + 1, name);
    return made;
}

static int file_of(const struct made *made, uint64_t size)
{
    int fd = memfd_create("made", 0);

    assert_int_equal(write(fd, made, sizeof(*made)), sizeof(*made));
    if (size > sizeof(*made))
        assert_int_equal(ftruncate(fd, (off_t)size), 0);
    return fd;
}

/* Open the file, and check what it takes. */
static void check_taken(const struct made *made, uint64_t file_size, size_t expected)
{
    struct elf_room room = {0};
    int fd = file_of(made, file_size);
    size_t bytes = 0;
    Elf *elf = elf_limits_open(fd, &room, &bytes);

    assert_non_null(elf);
    assert_int_equal(bytes, expected);
    assert_int_equal(room.taken, expected);
    elf_limits_close(elf, &room, bytes);
    assert_int_equal(room.taken, 0);
    close(fd);
}

static void check_refused(const struct made *made, uint64_t file_size)
{
    struct elf_room room = {0};
    int fd = file_of(made, file_size);
    size_t bytes = 0;

    assert_null(elf_limits_open(fd, &room, &bytes));
    assert_int_equal(room.taken, 0);
    close(fd);
}

static void test_symbol_tables_count(void **state)
{
    struct made note = made_with(".note", SHT_NOTE, 0, 24);
    struct made symbols = made_with(".symtab", SHT_SYMTAB, 0, 24);

    (void)state;
    check_taken(&note, 0, 24 + sizeof(note.names));
    check_taken(&symbols, 0, 4 * 24 + sizeof(symbols.names));
}

/* Code and data of the program do not count: libelf does not read them here. */
static void test_program_does_not_count(void **state)
{
    struct made made = made_with(".rodata", SHT_PROGBITS, SHF_ALLOC, 500 * MB);

    (void)state;
    check_taken(&made, 1000 * MB, sizeof(made.names));
}

/* A file with holes has tables of any size, and none of them on the disk. */
static void test_file_with_large_tables_is_refused(void **state)
{
    struct made symbols = made_with(".symtab", SHT_SYMTAB, 0, 500 * MB);
    struct made strings = made_with(".strtab", SHT_STRTAB, 0, 500 * MB);
    struct made frames = made_with(".eh_frame", SHT_PROGBITS, SHF_ALLOC, 500 * MB);

    (void)state;
    check_refused(&symbols, 1000 * MB);
    check_refused(&strings, 1000 * MB);
    check_refused(&frames, 1000 * MB);
}

/* The packed form of 1 GB of zeros has 1 MB. */
static void test_compressed_tables_count_unpacked(void **state)
{
    struct made made = made_with(".strtab", SHT_STRTAB, SHF_COMPRESSED, 32);

    (void)state;
    made.packed.ch_size = 1000;
    check_taken(&made, 0, 32 + 1000 + sizeof(made.names));
    made.packed.ch_size = 1000 * (uint64_t)MB;
    check_refused(&made, 0);
    made.packed.ch_size = UINT64_MAX;
    check_refused(&made, 0);
}

/* Names of sections that are packed would be unpacked to look for a section. */
static void test_compressed_section_names_are_refused(void **state)
{
    struct made made = made_with(".note", SHT_NOTE, 0, 24);

    (void)state;
    made.sections[2].sh_flags = SHF_COMPRESSED;
    check_refused(&made, 0);
}

/* Counts in their second place can be billions. */
static void test_file_with_many_sections_is_refused(void **state)
{
    struct made made = made_with(".note", SHT_NOTE, 0, 24);

    (void)state;
    made.header.e_shnum = 0;
    made.sections[0].sh_size = 10000000;
    check_refused(&made, 1000 * MB);
    made = made_with(".note", SHT_NOTE, 0, 24);
    made.header.e_phoff = sizeof(made);
    made.header.e_phentsize = sizeof(Elf64_Phdr);
    made.header.e_phnum = PN_XNUM;
    made.sections[0].sh_info = 10000000;
    check_refused(&made, 1000 * MB);
}

/* All files of a VM share its room. */
static void test_files_of_a_vm_have_a_limit_together(void **state)
{
    struct made made = made_with(".strtab", SHT_STRTAB, 0, 30 * MB);
    struct elf_room room = {0};
    size_t bytes[4];
    Elf *elf[4];

    (void)state;
    for (int i = 0; i < 4; i++) {
        int fd = file_of(&made, 100 * MB);

        elf[i] = elf_limits_open(fd, &room, &bytes[i]);
        assert_int_equal(elf[i] != NULL, i < 3);
    }
    assert_false(elf_limits_take(&room, 30 * MB));
    assert_true(elf_limits_take(&room, MB));
    room.taken -= MB;
    for (int i = 0; i < 3; i++)
        elf_limits_close(elf[i], &room, bytes[i]);
    assert_int_equal(room.taken, 0);
}

/* Debug information counts apart, packed or not. The old form of packed sections is not read. */
static void test_debug_information_has_its_own_limit(void **state)
{
    struct made made = made_with(".debug_info", SHT_PROGBITS, SHF_COMPRESSED, 32);
    struct made old = made_with(".zdebug_info", SHT_PROGBITS, 0, 32);
    size_t bytes;
    Elf *elf;

    (void)state;
    made.packed.ch_size = 1000;
    elf = elf_limits_open(file_of(&made, 0), NULL, &bytes);
    assert_int_equal(bytes, sizeof(made.names));
    assert_true(elf_limits_fit_debug(elf));
    elf_limits_close(elf, NULL, bytes);
    made.packed.ch_size = 1000 * (uint64_t)MB;
    elf = elf_limits_open(file_of(&made, 0), NULL, &bytes);
    assert_false(elf_limits_fit_debug(elf));
    elf_limits_close(elf, NULL, bytes);
    elf = elf_limits_open(file_of(&old, 0), NULL, &bytes);
    assert_false(elf_limits_fit_debug(elf));
    elf_limits_close(elf, NULL, bytes);
}

/* A file that is not an ELF file of 64 bits is not opened. */
static void test_file_that_is_no_elf64_is_not_opened(void **state)
{
    struct made made = made_with(".note", SHT_NOTE, 0, 24);
    int fd = memfd_create("short", 0);
    size_t bytes;

    (void)state;
    assert_null(elf_limits_open(fd, NULL, &bytes));
    assert_null(elf_limits_open(-1, NULL, &bytes));
    assert_null(elf_limits_open_image(&made, 8, NULL, &bytes));
    made.header.e_ident[EI_CLASS] = ELFCLASS32;
    check_refused(&made, 0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbol_tables_count),
        cmocka_unit_test(test_program_does_not_count),
        cmocka_unit_test(test_file_with_large_tables_is_refused),
        cmocka_unit_test(test_compressed_tables_count_unpacked),
        cmocka_unit_test(test_compressed_section_names_are_refused),
        cmocka_unit_test(test_file_with_many_sections_is_refused),
        cmocka_unit_test(test_files_of_a_vm_have_a_limit_together),
        cmocka_unit_test(test_debug_information_has_its_own_limit),
        cmocka_unit_test(test_file_that_is_no_elf64_is_not_opened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
