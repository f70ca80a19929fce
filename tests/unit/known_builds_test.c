// SPDX-License-Identifier: Apache-2.0
/* Stripped VMs of known builds get their names; a file that only claims such a build does not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/build_id.h"
#include "elf/elf_limits.h"
#include "elf/known_builds.h"
#include "elf/symbols.h"
#include "util/files.h"

/* The VM of Debian 12, which the tests install. */
#define KNOWN_ID   "94bcd90b66fca38e41e627fa3a2ec089b2e498be"
#define KNOWN_FILE "/usr/lib/erlang/erts-13.1.5/bin/beam.smp"

enum { ID_BYTES = 20 };

/* ---- files ---- */

struct open_file {
    Elf *elf;
    int fd;
    size_t bytes;
    struct elf_room room;
    struct elf_symbols *symbols;
};

/* Open a file and read its symbols. Takes `fd`. */
static void open_file(struct open_file *file, int fd)
{
    *file = (struct open_file){.fd = fd};
    file->elf = elf_limits_open(fd, &file->room, &file->bytes);
    assert_non_null(file->elf);
    file->symbols = elf_symbols_new(file->elf, fd, -1, &file->room);
}

/* Close it. All room that it took must be free then. */
static void close_file(struct open_file *file)
{
    elf_symbols_free(file->symbols);
    elf_limits_close(file->elf, &file->room, file->bytes);
    close(file->fd);
    assert_int_equal(file->room.taken, 0);
}

/* Return a descriptor of a copy of the file in memory. */
static int copy_of(const char *path)
{
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("copy", MFD_CLOEXEC);
    char bytes[1 << 14];
    ssize_t got;

    assert_true(from >= 0 && to >= 0);
    while ((got = read(from, bytes, sizeof(bytes))) > 0)
        assert_int_equal(files_write_all(to, bytes, (size_t)got), 0);
    close(from);
    return to;
}

/* Return a copy of the known VM; skip the test where it is not installed. */
static int known_vm(void)
{
    struct build_id_text id = {""};
    size_t bytes = 0;
    int fd;
    Elf *elf;

    if (access(KNOWN_FILE, R_OK) != 0)
        skip();
    fd = copy_of(KNOWN_FILE);
    elf = elf_limits_open(fd, NULL, &bytes);
    if (elf) {
        const struct build_id build = build_id_of_elf(elf);

        id = build_id_text(&build);
    }
    elf_limits_close(elf, NULL, bytes);
    if (strcmp(id.text, KNOWN_ID) != 0) {
        close(fd);
        skip();
    }
    return fd;
}

/* ---- tests ---- */

static uint64_t some_function;

static void keep_found(void *context, uint64_t start, uint64_t end, const char *name)
{
    size_t *count = context;

    assert_true(start < end);
    assert_true(name[0] != '\0' && !strchr(name, ' '));
    if (!strcmp(name, "do_minor"))
        some_function = start;
    (*count)++;
}

/* A function that the VM does not export has its name. */
static void test_functions_of_a_known_build_have_names(void **state)
{
    struct open_file file;
    struct elf_symbol symbol;
    size_t count = 0;

    (void)state;
    open_file(&file, known_vm());
    assert_true(known_builds_read(file.elf, file.fd, keep_found, &count));
    assert_int_equal(count, 5523);
    assert_int_equal(elf_symbols_source(file.symbols), NATIVE_SYMBOLS_BUILD);
    symbol = elf_symbols_find(file.symbols, some_function + 1);
    assert_string_equal(symbol.name, "do_minor");
    assert_int_equal(symbol.start, some_function);
    assert_int_equal(elf_symbol_address(file.elf, "do_minor"), 0); /* probes do not use the table */
    close_file(&file);
}

/* One byte of the code is another. */
static void test_changed_code_gets_no_names(void **state)
{
    struct open_file file;
    uint64_t at = 0x66000 + 0x1234; /* in its executable segment */
    uint8_t byte;

    (void)state;
    open_file(&file, known_vm());
    assert_int_equal(elf_symbols_source(file.symbols), NATIVE_SYMBOLS_BUILD);
    assert_int_equal(pread(file.fd, &byte, 1, (off_t)at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(file.fd, &byte, 1, (off_t)at), 1);
    elf_symbols_free(file.symbols);
    file.symbols = elf_symbols_new(file.elf, file.fd, -1, &file.room);
    assert_int_equal(elf_symbols_source(file.symbols), NATIVE_SYMBOLS_EXPORTED);
    close_file(&file);
}

/* Return where a stripped copy of this program has its build id. */
static off_t place_of_id(int fd)
{
    static const uint8_t note[] = {4, 0, 0, 0,   ID_BYTES, 0,   0, 0, NT_GNU_BUILD_ID,
                                   0, 0, 0, 'G', 'N',      'U', 0};
    uint8_t bytes[1 << 12];
    size_t size = files_read_at(fd, 0, bytes, sizeof(bytes));
    const uint8_t *found = memmem(bytes, size, note, sizeof(note));

    assert_non_null(found);
    return found + sizeof(note) - bytes;
}

/* This program claims the build id of a known build. */
static void test_claimed_build_id_gives_no_names(void **state)
{
    char path[] = "/tmp/known_builds_test.XXXXXX", command[256];
    int made = mkstemp(path), fd;
    uint8_t id[ID_BYTES];
    struct open_file file;
    size_t count = 0;

    (void)state;
    assert_true(made >= 0);
    close(made);
    snprintf(command, sizeof(command), "strip -o %s /proc/%d/exe", path, (int)getpid());
    assert_int_equal(system(command), 0);
    fd = copy_of(path);
    unlink(path);
    for (int i = 0; i < ID_BYTES; i++)
        assert_int_equal(sscanf(&KNOWN_ID[2 * i], "%2hhx", &id[i]), 1);
    assert_int_equal(pwrite(fd, id, sizeof(id), place_of_id(fd)), sizeof(id));
    open_file(&file, fd);
    assert_int_equal(elf_symbols_source(file.symbols), NATIVE_SYMBOLS_EXPORTED);
    assert_false(known_builds_read(file.elf, file.fd, keep_found, &count));
    assert_int_equal(count, 0);
    close_file(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_of_a_known_build_have_names),
        cmocka_unit_test(test_changed_code_gets_no_names),
        cmocka_unit_test(test_claimed_build_id_gives_no_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
