// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "native/core_file.h"
#include "native/elf_file.h"
#include "util/buffer.h"

enum { PAGE = 4096, BASE = 0x10000 };

/* A core file under construction, in memory: headers, notes and pages. */
struct made {
    Elf64_Ehdr header;
    Elf64_Phdr headers[8];
    struct buffer notes, pages;
    int fd;
    char path[64];
};

static void set_up_core(struct made *made)
{
    *made = (struct made){
        .header = {.e_ident = ELFMAG,
                   .e_type = ET_CORE,
                   .e_machine = EM_X86_64,
                   .e_phoff = sizeof(made->header),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 1},
        .fd = memfd_create("core", MFD_CLOEXEC),
    };
    made->header.e_ident[EI_CLASS] = ELFCLASS64;
    made->header.e_ident[EI_DATA] = ELFDATA2LSB;
    snprintf(made->path, sizeof(made->path), "/proc/self/fd/%d", made->fd);
}

static void add_note(struct made *made, uint32_t type, const void *content, uint32_t size)
{
    const Elf64_Nhdr header = {.n_namesz = 5, .n_descsz = size, .n_type = type};

    buffer_put(&made->notes, &header, sizeof(header));
    buffer_put(&made->notes, "CORE\0\0\0", 8);
    buffer_put(&made->notes, content, size);
    buffer_put(&made->notes, "\0\0\0", -size % 4);
}

/* Add memory at `address`. The core contains its first `present` bytes: `bytes`. */
static void add_pages(struct made *made, uint64_t address, uint64_t size, const void *bytes,
                      size_t present)
{
    made->headers[made->header.e_phnum++] = (Elf64_Phdr){.p_type = PT_LOAD,
                                                         .p_flags = PF_R,
                                                         .p_vaddr = address,
                                                         .p_memsz = size,
                                                         .p_filesz = present,
                                                         .p_offset = made->pages.size};
    buffer_put(&made->pages, bytes, present);
}

static void write_core(struct made *made)
{
    uint64_t at = sizeof(made->header) + sizeof(made->headers);

    made->headers[0] =
        (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = at, .p_filesz = made->notes.size};
    for (int i = 1; i < made->header.e_phnum; i++)
        made->headers[i].p_offset += at + made->notes.size;
    assert_int_equal(write(made->fd, &made->header, sizeof(made->header)), sizeof(made->header));
    assert_int_equal(write(made->fd, made->headers, sizeof(made->headers)), sizeof(made->headers));
    assert_int_equal(write(made->fd, made->notes.data, made->notes.size), made->notes.size);
    assert_int_equal(write(made->fd, made->pages.data, made->pages.size), made->pages.size);
}

static struct core_file *open_core(struct made *made)
{
    struct error error;
    struct core_file *core;

    write_core(made);
    core = core_file_open(made->path, &error);
    assert_non_null(core);
    return core;
}

static void tear_down_core(struct made *made)
{
    close(made->fd);
    buffer_free(&made->notes);
    buffer_free(&made->pages);
}

/* Add an NT_FILE of one file that is mapped in two parts, and of another file. */
static void add_files(struct made *made, const char *path, uint64_t second)
{
    const uint64_t numbers[] = {3,
                                PAGE,
                                BASE,
                                BASE + PAGE,
                                0,
                                BASE + PAGE,
                                BASE + 3 * PAGE,
                                second,
                                BASE + 8 * PAGE,
                                BASE + 9 * PAGE,
                                0};
    struct buffer files = {0};

    buffer_put(&files, numbers, sizeof(numbers));
    buffer_put(&files, path, strlen(path) + 1);
    buffer_put(&files, path, strlen(path) + 1);
    buffer_put(&files, "/no/such.so (deleted)", sizeof("/no/such.so (deleted)"));
    add_note(made, NT_FILE, files.data, (uint32_t)files.size);
    buffer_free(&files);
}

/* Fields are read at their offsets in the notes of x86-64. */
static void test_notes_give_pid_threads_registers_and_mappings(void **state)
{
    uint64_t status[42] = {0}, info[17] = {0};
    const uint64_t vector[] = {AT_ENTRY, BASE + 24, AT_SYSINFO_EHDR, 0x7000, AT_NULL, 0};
    struct core_file *core;
    struct made made;

    (void)state;
    set_up_core(&made);
    status[1] = (uint64_t)SIGSEGV << 32; /* pr_cursig */
    status[4] = 4711;                    /* pr_pid */
    for (int i = 0; i < 27; i++)
        status[14 + i] = 100 + (uint64_t)i; /* pr_reg */
    info[3] = 4242;                         /* pr_pid */
    add_note(&made, NT_PRSTATUS, status, sizeof(status));
    add_note(&made, NT_PRPSINFO, info, sizeof(info));
    add_note(&made, NT_AUXV, vector, sizeof(vector));
    add_note(&made, NT_PRSTATUS, status, 100); /* too short for registers */
    add_files(&made, "/bin/some", 2);
    core = open_core(&made);
    assert_int_equal(core->pid, 4242);
    assert_int_equal(core->entry, BASE + 24);
    assert_int_equal(core->vdso, 0x7000);
    assert_int_equal(core->missing, 0);
    assert_int_equal(core->thread_count, 1);
    assert_int_equal(core->threads->tid, 4711);
    assert_int_equal(core->threads->signal, SIGSEGV);
    assert_int_equal(core->threads->thread_pointer, 121);
    assert_int_equal(core->threads->registers[CPU_R15], 100);
    assert_int_equal(core->threads->registers[CPU_RBP], 104);
    assert_int_equal(core->threads->registers[CPU_RDI], 114);
    assert_int_equal(core->threads->registers[CPU_RIP], 116);
    assert_int_equal(core->threads->registers[CPU_RSP], 119);
    assert_int_equal(core->mapping_count, 3);
    assert_int_equal(core->mappings[1].start, BASE + PAGE);
    assert_int_equal(core->mappings[1].offset, 2 * PAGE);
    assert_string_equal(core->mappings[1].path, "/bin/some");
    assert_string_equal(core->mappings[2].path, "/no/such.so");
    core_file_free(core);
    tear_down_core(&made);
}

/* Memory is readable up to the end of a segment's bytes in the file, and not outside of
 * segments. */
static void test_memory_is_readable_only_within_segments(void **state)
{
    char pages[2 * PAGE], buffer[64];
    struct core_file *core;
    struct made made;

    (void)state;
    memset(pages, 'a', PAGE);
    memset(pages + PAGE, 'b', PAGE);
    set_up_core(&made);
    add_pages(&made, BASE + PAGE, 4 * PAGE, pages + PAGE, PAGE);
    add_pages(&made, BASE, PAGE, pages, PAGE);
    core = open_core(&made);
    assert_int_equal(core_file_read(core, BASE, buffer, 64), 64);
    assert_int_equal(buffer[63], 'a');
    assert_int_equal(core_file_read(core, BASE + PAGE - 32, buffer, 64), 32);
    assert_int_equal(core_file_read(core, BASE + 2 * PAGE - 32, buffer, 64), 32);
    assert_int_equal(buffer[31], 'b');
    assert_int_equal(core_file_read(core, BASE + 2 * PAGE, buffer, 64), 0);
    assert_int_equal(core_file_read(core, BASE - 1, buffer, 64), 0);
    assert_int_equal(core_file_read(core, UINT64_MAX, buffer, 64), 0);
    assert_null(core_file_segment(core, BASE + 5 * PAGE));
    core_file_free(core);
    tear_down_core(&made);
}

/* In a file that is cut short, the rest is readable, and the missing bytes are counted. */
static void test_missing_bytes_of_a_cut_core_are_counted(void **state)
{
    static const char pages[2 * PAGE];
    struct core_file *core;
    struct error error;
    char buffer[64];
    struct made made;
    off_t size;

    (void)state;
    set_up_core(&made);
    add_pages(&made, BASE, PAGE, pages, PAGE);
    add_pages(&made, BASE + PAGE, PAGE, pages, PAGE);
    write_core(&made);
    size = lseek(made.fd, 0, SEEK_CUR);
    assert_int_equal(ftruncate(made.fd, size - PAGE - 8), 0);
    core = core_file_open(made.path, &error);
    assert_non_null(core);
    assert_int_equal(core->missing, PAGE + 8);
    assert_int_equal(core_file_read(core, BASE + PAGE - 64, buffer, 64), 56);
    assert_int_equal(core_file_read(core, BASE + PAGE, buffer, 64), 0);
    core_file_free(core);
    for (int left = 100; left-- > 0;) {
        assert_int_equal(ftruncate(made.fd, left), 0);
        assert_null(core_file_open(made.path, &error));
        assert_int_equal(error.code, ERROR_FAILED);
        assert_non_null(strstr(error.text, left < 4 ? "is not a core file" : "incomplete"));
    }
    tear_down_core(&made);
}

static void check_refused(uint16_t machine, unsigned char class, uint16_t type,
                          enum error_code code, const char *says)
{
    struct error error;
    struct made made;

    set_up_core(&made);
    made.header.e_machine = machine;
    made.header.e_ident[EI_CLASS] = class;
    made.header.e_type = type;
    write_core(&made);
    assert_null(core_file_open(made.path, &error));
    assert_int_equal(error.code, code);
    assert_non_null(strstr(error.text, says));
    tear_down_core(&made);
}

static void test_core_of_another_machine_is_refused(void **state)
{
    (void)state;
    check_refused(EM_AARCH64, ELFCLASS64, ET_CORE, ERROR_UNSUPPORTED, "comes from another machine");
    check_refused(EM_386, ELFCLASS32, ET_CORE, ERROR_UNSUPPORTED, "32-bit");
    check_refused(EM_X86_64, ELFCLASS64, ET_DYN, ERROR_FAILED, "another ELF file");
}

/* ---- with this program as the executable ---- */

static char self[4096];

static int find_self(void **state)
{
    ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);

    (void)state;
    return size > 0 ? 0 : -1;
}

/* Read the first page of this program; change a byte of its build id if it must look like another
 * program. */
static void read_first_page(char *page, bool is_other)
{
    int fd = open(self, O_RDONLY | O_CLOEXEC);
    const void *id;
    ssize_t size;
    char *at;
    Elf *elf;

    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    size = dwelf_elf_gnu_build_id(elf, &id);
    assert_int_equal(pread(fd, page, PAGE, 0), PAGE);
    if (size <= 0)
        skip(); /* the linker did not give it a build id */
    at = memmem(page, PAGE, id, (size_t)size);
    assert_non_null(at);
    *at = (char)(*at ^ is_other);
    elf_end(elf);
    close(fd);
}

/* Return the page of the file where the code begins. */
static uint64_t code_page(void)
{
    int fd = open(self, O_RDONLY | O_CLOEXEC);
    uint64_t found = 0;
    GElf_Phdr header;
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

    for (int i = 0; gelf_getphdr(elf, i, &header); i++)
        if (header.p_type == PT_LOAD && header.p_flags & PF_X)
            found = header.p_offset / PAGE;
    elf_end(elf);
    close(fd);
    assert_true(found);
    return found;
}

static void make_own_core(struct made *made, bool is_other)
{
    const uint64_t vector[] = {AT_ENTRY, BASE + PAGE + 24, AT_NULL, 0};
    char page[PAGE];

    set_up_core(made);
    read_first_page(page, is_other);
    add_note(made, NT_AUXV, vector, sizeof(vector));
    add_files(made, self, code_page());
    add_pages(made, BASE, PAGE, page, PAGE);
}

static struct mappings *mappings_here(const struct core_file *core, const char *executable,
                                      struct error *error)
{
    struct parser *parser = parser_here();
    struct mappings *mappings = core_process_mappings(core, parser, executable, error);

    parser_release(parser);
    return mappings;
}

/* Code that the core lacks is read from the executable; files that are missing here have no
 * code. */
static void test_missing_code_is_read_from_the_executable(void **state)
{
    char code[64], expected[64];
    struct mappings *mappings;
    struct memory *memory;
    struct core_file *core;
    struct error error;
    struct made made;
    int fd = open(self, O_RDONLY | O_CLOEXEC);

    (void)state;
    make_own_core(&made, false);
    core = open_core(&made);
    mappings = mappings_here(core, NULL, &error);
    assert_non_null(mappings);
    memory = core_process_memory(core, mappings);
    assert_int_equal(pread(fd, expected, 64, (off_t)(code_page() * PAGE)), 64);
    assert_true(memory_read(memory, BASE + PAGE, code, 64));
    assert_memory_equal(code, expected, 64);
    assert_non_null(mappings_find_code(mappings, BASE + PAGE));
    assert_null(mappings_find_code(mappings, BASE));
    assert_string_equal(mapping_file(mappings, mappings_find(mappings, BASE + PAGE))->path, self);
    assert_null(mapping_file(mappings, mappings_find(mappings, BASE + 8 * PAGE)));
    assert_false(memory_read(memory, BASE + 8 * PAGE, code, 64));
    assert_false(memory_read(memory, BASE + 4 * PAGE, code, 64));
    memory_free(memory);
    mappings_free(mappings);
    core_file_free(core);
    tear_down_core(&made);
    close(fd);
}

/* An executable of another build is refused, given by name or found, and the message has both
 * builds. */
static void test_executable_of_another_build_is_refused(void **state)
{
    const char *const names[] = {NULL, self};
    struct core_file *core;
    struct error error;
    struct made made;

    (void)state;
    make_own_core(&made, true);
    core = open_core(&made);
    for (int i = 0; i < 2; i++) {
        assert_null(mappings_here(core, names[i], &error));
        assert_int_equal(error.code, ERROR_FAILED);
        assert_non_null(strstr(error.text, "its build id is "));
        assert_non_null(strstr(error.text, ", not "));
    }
    assert_null(mappings_here(core, "/no/such", &error));
    assert_non_null(strstr(error.text, "No such file"));
    core_file_free(core);
    tear_down_core(&made);
}

static void test_core_without_a_list_of_files_is_refused(void **state)
{
    struct core_file *core;
    struct error error;
    struct made made;

    (void)state;
    set_up_core(&made);
    core = open_core(&made);
    assert_null(mappings_here(core, self, &error));
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    core_file_free(core);
    tear_down_core(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notes_give_pid_threads_registers_and_mappings),
        cmocka_unit_test(test_memory_is_readable_only_within_segments),
        cmocka_unit_test(test_missing_bytes_of_a_cut_core_are_counted),
        cmocka_unit_test(test_core_of_another_machine_is_refused),
        cmocka_unit_test(test_missing_code_is_read_from_the_executable),
        cmocka_unit_test(test_executable_of_another_build_is_refused),
        cmocka_unit_test(test_core_without_a_list_of_files_is_refused),
    };

    return cmocka_run_group_tests(tests, find_self, NULL);
}
