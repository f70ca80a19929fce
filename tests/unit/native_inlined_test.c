// SPDX-License-Identifier: Apache-2.0
/* Functions that the compiler inlined in this program, and their lines. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/elf_file.h"
#include "native/mappings.h"
#include "native/memory.h"
#include "native/native_inlined.h"
#include "native/native_symbols.h"
#include "util/alloc.h"

extern const char place_in_inner[], place_in_outer[];
void outer(void);

enum { INNER_LINE = __LINE__ + 4, MIDDLE_LINE = __LINE__ + 9, OUTER_LINE = __LINE__ + 14 };

__attribute__((always_inline)) static inline void inner(void)
{
    __asm__ volatile("place_in_inner: nop");
}

__attribute__((always_inline)) static inline void middle(void)
{
    inner();
}

__attribute__((noinline)) void outer(void)
{
    middle();
    __asm__ volatile("place_in_outer: nop");
}

enum { FOUND_MAX = 8 };

struct found {
    struct {
        char name[32], file[256];
        uint32_t line;
        uint64_t address;
        bool is_container;
    } of[FOUND_MAX];
    size_t count;
};

static void note(void *context, const struct native_inlined *function)
{
    struct found *found = context;

    assert_in_range(found->count, 0, FOUND_MAX - 1);
    strncpy(found->of[found->count].name, function->name, sizeof(found->of[0].name) - 1);
    strncpy(found->of[found->count].file, function->file, sizeof(found->of[0].file) - 1);
    found->of[found->count].line = function->line;
    found->of[found->count].address = function->address;
    found->of[found->count++].is_container = function->is_container;
}

/* Find the functions at an address of this program. `parser` is shared. */
static struct found find_at(struct parser *parser, const void *address)
{
    struct memory *memory = memory_of_process(getpid());
    struct found found = {.count = 0};
    struct mappings *mappings;
    struct elf_file *file;
    struct error error;

    mappings = mappings_new(getpid(), memory, &error);
    assert_non_null(mappings);
    file =
        elf_file_open(parser, getpid(), memory, mappings_find_code(mappings, (uintptr_t)address));
    assert_non_null(file);
    native_inlined_each(file, (uintptr_t)address, note, &found);
    elf_file_free(file);
    mappings_free(mappings);
    memory_free(memory);
    return found;
}

static void check(const struct found *found, size_t at, const char *name, uint32_t line)
{
    assert_string_equal(found->of[at].name, name);
    assert_int_equal(found->of[at].line, line);
    assert_non_null(strstr(found->of[at].file, "native_inlined_test.c"));
    assert_int_equal(found->of[at].is_container, at == found->count - 1);
}

/* The parser, which has no rights, lists inlined functions youngest first, each with the line that
 * runs in it: that of the call, but of the youngest. */
static void test_inlined_functions_have_their_lines(void **state)
{
    struct parser *parser = parser_start();
    struct found found = find_at(parser, place_in_inner);

    (void)state;
    outer();
    assert_int_equal(found.count, 3);
    check(&found, 0, "inner", INNER_LINE);
    check(&found, 1, "middle", MIDDLE_LINE);
    check(&found, 2, "", OUTER_LINE);
    assert_true(found.of[0].address <= (uintptr_t)place_in_inner &&
                found.of[0].address >= (uintptr_t)outer);
    parser_release(parser);
}

/* Code of the same function that is not inlined has only its line. */
static void test_code_that_is_not_inlined_has_its_line(void **state)
{
    struct parser *parser = parser_start();
    struct found found = find_at(parser, place_in_outer);

    (void)state;
    assert_int_equal(found.count, 1);
    check(&found, 0, "", OUTER_LINE + 1);
    parser_release(parser);
}

/* Open this program as objcopy with these options changes it, at its place in this process. */
static struct elf_file *open_changed(struct parser *parser, struct mappings *mappings,
                                     const char *options)
{
    char path[] = "/tmp/native_inlined_test.XXXXXX", *command;
    int fd = mkstemp(path);
    struct elf_file *file;

    assert_true(fd >= 0);
    command = xasprintf("objcopy %s /proc/%d/exe %s", options, (int)getpid(), path);
    assert_int_equal(system(command), 0);
    free(command);
    close(fd);
    file = elf_file_of_fd(parser, open(path, O_PATH | O_CLOEXEC), "/", path);
    unlink(path);
    assert_non_null(file);
    assert_true(elf_file_place(file, mappings_find_code(mappings, (uintptr_t)outer)));
    return file;
}

/* Return how many functions a changed program has at an address. It keeps the names of its
 * functions, whatever its debug information does to the parser. */
static size_t count_changed(const char *options)
{
    struct memory *memory = memory_of_process(getpid());
    struct parser *parser = parser_start();
    struct found found = {.count = 0};
    struct native_symbol symbol;
    struct mappings *mappings;
    struct elf_file *file;
    struct error error;

    mappings = mappings_new(getpid(), memory, &error);
    assert_non_null(mappings);
    file = open_changed(parser, mappings, options);
    native_inlined_each(file, (uintptr_t)place_in_inner, note, &found);
    assert_true(native_symbol_find(file, (uintptr_t)outer + 1, &symbol));
    assert_string_equal(symbol.name, "outer");
    elf_file_free(file);
    parser_release(parser);
    mappings_free(mappings);
    memory_free(memory);
    return found.count;
}

/* A file without debug information has no such functions. */
static void test_file_without_debug_information(void **state)
{
    (void)state;
    assert_int_equal(count_changed("--strip-debug"), 0);
    assert_int_equal(count_changed(""), 3);
}

/* Compilers differ in the sections of debug information. */
static bool has_section(const char *name)
{
    char *command = xasprintf("readelf -SW /proc/%d/exe | grep -qwF -e %s", (int)getpid(), name);
    bool found = system(command) == 0;

    free(command);
    return found;
}

/* Damaged debug information costs a file only its inlined functions. */
static void test_damaged_debug_information(void **state)
{
    static const char *const sections[] = {".debug_info", ".debug_abbrev",   ".debug_line",
                                           ".debug_str",  ".debug_rnglists", ".debug_aranges"};
    char path[] = "/tmp/native_inlined_test.XXXXXX";
    int fd = mkstemp(path);
    char bytes[4096];

    (void)state;
    assert_true(fd >= 0);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(i * 2654435761u >> 7);
    assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
    close(fd);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        char *options = xasprintf("--update-section %s=%s", sections[i], path);

        if (has_section(sections[i]))
            assert_in_range(count_changed(options), 0, 3);
        free(options);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inlined_functions_have_their_lines),
        cmocka_unit_test(test_code_that_is_not_inlined_has_its_line),
        cmocka_unit_test(test_file_without_debug_information),
        cmocka_unit_test(test_damaged_debug_information),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
