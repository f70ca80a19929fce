// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/debug_file.h"
#include "native/mappings.h"
#include "native/memory.h"
#include "native/elf_file.h"
#include "native/native_symbols.h"

static struct memory *memory;
static struct mappings *mappings;
/* In this process: memcheck_test.py runs these tests, and valgrind can't follow a process that
 * gives up its rights. */
static struct parser *parser;
static struct elf_file *opened[4];
static size_t opened_count;

static int set_up(void **state)
{
    struct error error;

    (void)state;
    memory = memory_of_process(getpid());
    mappings = mappings_new(getpid(), memory, &error);
    parser = parser_here();
    return mappings ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    while (opened_count)
        elf_file_free(opened[--opened_count]);
    parser_release(parser);
    mappings_free(mappings);
    memory_free(memory);
    return 0;
}

static struct elf_file *file_at(uintptr_t address)
{
    struct mapping *mapping = mappings_find_code(mappings, address);

    assert_non_null(mapping);
    assert_in_range(opened_count, 0, 3);
    opened[opened_count] = elf_file_open(parser, getpid(), memory, mapping);
    return opened[opened_count++];
}

static struct elf_file *own_file(void)
{
    return file_at((uintptr_t)set_up);
}

/* Return the file whose path contains `part`, or NULL. */
static struct elf_file *library(const char *part)
{
    int count;
    const struct mapping *all = mappings_all(mappings, &count);

    for (int i = 0; i < count; i++) {
        if (all[i].executable && strstr(all[i].path, part))
            return file_at(all[i].start);
    }
    return NULL;
}

/* Static and global functions are found over their whole length, and not one byte further. */
static void test_function_is_found_over_its_exact_extent(void **state)
{
    struct elf_file *file = own_file();
    struct native_symbol symbol, next;

    (void)state;
    assert_true(native_symbol_find(
        file, (uintptr_t)test_function_is_found_over_its_exact_extent + 3, &symbol));
    assert_string_equal(symbol.name, "test_function_is_found_over_its_exact_extent");
    assert_int_equal(symbol.address, (uintptr_t)test_function_is_found_over_its_exact_extent);
    assert_true(symbol.size > 16);
    assert_true(native_symbol_find(file, symbol.address + symbol.size - 1, &next));
    assert_string_equal(next.name, "test_function_is_found_over_its_exact_extent");
    assert_true(!native_symbol_find(file, symbol.address + symbol.size, &next) ||
                strcmp(next.name, "test_function_is_found_over_its_exact_extent") != 0);
}

/* An address without a symbol has no name, and the result stays unchanged. */
static void test_address_without_a_symbol_has_no_name(void **state)
{
    struct elf_file *file = own_file();
    struct native_symbol symbol = {.size = 42};

    (void)state;
    assert_false(native_symbol_find(file, file->bias, &symbol));
    assert_false(native_symbol_find(file, 0, &symbol));
    assert_false(native_symbol_find(file, UINT64_MAX, &symbol));
    assert_int_equal(symbol.size, 42);
}

/* Functions within a function, as hand-written assembly has them. Bytes from nest_begin: nest_outer
 * has 4 to 23, nest_inner 8 to 15, nest_most 9 to 11. */
__asm__(".text\n"
        "nest_begin: .skip 4, 0x90\n"
        ".type nest_outer, @function\n"
        "nest_outer: .skip 4, 0x90\n"
        ".type nest_inner, @function\n"
        ".type nest_most, @function\n"
        "nest_inner: .skip 1, 0x90\n"
        "nest_most: .skip 3, 0x90\n"
        ".size nest_most, 3\n"
        ".skip 4, 0x90\n"
        ".size nest_inner, 8\n"
        ".skip 8, 0x90\n"
        ".size nest_outer, 20\n"
        ".skip 4, 0x90\n");
extern const char nest_begin[];

static const char *nest_name(int at)
{
    if (at < 4 || at >= 24)
        return "";
    if (at >= 9 && at < 12)
        return "nest_most";
    return at >= 8 && at < 16 ? "nest_inner" : "nest_outer";
}

static void check_nest(struct elf_file *file, int at)
{
    struct native_symbol symbol;
    bool found = native_symbol_find(file, (uintptr_t)nest_begin + (uintptr_t)at, &symbol);

    assert_string_equal(found ? symbol.name : "", nest_name(at));
}

/* Functions that are known by their strings. like_twin and like_other_twin have the same, like_poor
 * has too few, and what calls like_called has no name. */
extern const char like_alone[], like_twin[], like_other_twin[], like_poor[], like_called[];
#define LIKE_FUNCTION(name, body)                                                                  \
    ".type " name ", @function\n" name ": .cfi_startproc\n" body "ret\n.cfi_endproc\n"
#define LIKE_STRINGS "lea like_first(%rip), %rax\nlea like_second(%rip), %r8\n"
__asm__(".section .rodata\n"
        "like_first: .string \"first\"\n"
        "like_second: .string \"second\"\n"
        "like_third: .string \"third\"\n"
        "like_short: .string \"abc\"\n"
        ".text\n" LIKE_FUNCTION("like_alone",
                                LIKE_STRINGS "lea like_third(%rip), %rdx\ncall like_called\n")
            LIKE_FUNCTION("like_twin", LIKE_STRINGS LIKE_STRINGS)
                LIKE_FUNCTION("like_other_twin", LIKE_STRINGS LIKE_STRINGS)
                    LIKE_FUNCTION("like_poor", LIKE_STRINGS "lea like_short(%rip), %rdx\n")
                        LIKE_FUNCTION("like_called", LIKE_STRINGS LIKE_STRINGS LIKE_STRINGS));

static uint64_t likeness_at(struct elf_file *file, const char *function)
{
    return native_symbol_likeness(file, (uintptr_t)function);
}

/* A function has a likeness if no other one has the same, and enough links have a name. It has none
 * at an address within it. */
static void test_likeness_is_unique_in_the_file(void **state)
{
    struct elf_file *file = own_file();

    (void)state;
    assert_int_not_equal(likeness_at(file, like_alone), 0);
    assert_int_equal(likeness_at(file, like_alone), likeness_at(file, like_alone));
    assert_int_equal(likeness_at(file, like_alone + 1), 0);
    assert_int_equal(likeness_at(file, like_twin), 0);
    assert_int_equal(likeness_at(file, like_other_twin), 0);
    assert_int_equal(likeness_at(file, like_poor), 0);
    assert_int_equal(likeness_at(file, like_called), 0);
}

/* Functions whose symbol has no size, as musl's memcpy(). */
extern const char sizeless[], sizeless_end[], sizeless_nop[];
__asm__(".text\n"
        ".globl sizeless, sizeless_end, sizeless_nop\n"
        ".type sizeless, @function\n"
        "sizeless:\n"
        "    test %edi, %edi\n"
        "    jz 2f\n"
        "1:  dec %edi\n"
        "    jnz 1b\n"
        "    ret\n"
        "2:  xor %eax, %eax\n"
        "    jmp 1b\n"
        "sizeless_end:\n"
        "    ret\n"
        ".type sizeless_nop, @function\n"
        "sizeless_nop:\n"
        "    .byte 0x06, 0x06\n"); /* no instruction */

/* A function whose symbol has no size ends where no jump of it leads further, and the next
 * instruction does not run after it. Code that can't be decoded has no name. */
static void test_function_without_a_size_ends_where_its_code_does(void **state)
{
    struct elf_file *file = own_file();
    struct native_symbol symbol;

    (void)state;
    assert_true(native_symbol_find(file, (uintptr_t)sizeless_end - 1, &symbol));
    assert_string_equal(symbol.name, "sizeless");
    assert_int_equal(symbol.address, (uintptr_t)sizeless);
    assert_int_equal(symbol.size, sizeless_end - sizeless);
    assert_false(native_symbol_find(file, (uintptr_t)sizeless_end, &symbol));
    assert_false(native_symbol_find(file, (uintptr_t)sizeless_nop, &symbol));
}

/* The innermost function is found, in whatever order addresses are asked: an answer that is kept is
 * that of its own addresses only. */
static void test_innermost_function_is_found_in_any_order(void **state)
{
    (void)state;
    for (int first = 0; first < 28; first++) {
        struct elf_file *file = own_file();

        check_nest(file, first);
        for (int at = 0; at < 28; at++)
            check_nest(file, at);
        for (int at = 27; at >= 0; at--)
            check_nest(file, at);
        elf_file_free(opened[--opened_count]);
    }
}

/* The parser is asked once for a function, and once for a range without one. */
static void test_answers_are_kept(void **state)
{
    struct elf_file *file = own_file();

    (void)state;
    check_nest(file, 4);
    check_nest(file, 9);
    check_nest(file, 25);
    file->is_lost = true; /* from now on, the parser gives no answer */
    check_nest(file, 7);
    check_nest(file, 11);
    check_nest(file, 26);
    assert_false(native_symbol_find(file, (uintptr_t)nest_begin + 14, &(struct native_symbol){0}));
}

/* Symbols are found by name: functions and objects; the address of an unknown name is 0. */
static void test_symbols_are_found_by_name(void **state)
{
    struct elf_file *file = own_file();

    (void)state;
    assert_true(native_symbol_address(file, "memory") == (uintptr_t)&memory);
    assert_true(native_symbol_address(file, "main") > file->bias);
    assert_true(native_symbol_address(file, "no_such_name") == 0);
    assert_true(native_symbol_address(file, "") == 0);
    assert_int_equal(native_symbols_source(file), NATIVE_SYMBOLS_OWN);
}

/* A stripped library has names from .dynsym, the plain one of several; ifuncs are functions. */
static void test_stripped_library_has_names_from_dynsym(void **state)
{
    struct elf_file *file = library("/libc.so.6");
    const char *const names[] = {"write", "nanosleep", "strlen", "qsort"};

    (void)state;
    if (!file)
        skip();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        uint64_t address = native_symbol_address(file, names[i]);
        struct native_symbol symbol;

        assert_true(address != 0);
        assert_true(native_symbol_find(file, address, &symbol));
        assert_string_equal(symbol.name, names[i]);
    }
}

/* The variant of memcpy() for this CPU has a name only in the debug file, which exists if libc6-dbg
 * is installed. */
static void test_names_come_from_the_separate_debug_file(void **state)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    struct elf_file *file = library("/libc.so.6");
    int debug = file ? debug_file_open(file) : -1;
    struct native_symbol symbol;

    (void)state;
    if (debug < 0)
        skip();
    close(debug);
    assert_true(native_symbol_find(file, (uintptr_t)dlsym(libc, "memcpy") + 1, &symbol));
    assert_non_null(strstr(symbol.name, "mem"));
    dlclose(libc);
}

/* C++ names are demangled, each time. */
static void test_cpp_names_are_demangled(void **state)
{
    struct elf_file *file = library("/libstdc++.so");
    uint64_t address = file ? native_symbol_address(file, "_ZNSt6thread4joinEv") : 0;

    (void)state;
    if (!address)
        skip();
    for (int i = 0; i < 2; i++) {
        struct native_symbol symbol;

        assert_true(native_symbol_find(file, address + 1, &symbol));
        assert_string_equal(symbol.name, "std::thread::join");
    }
}

/* The stubs through which this program calls the C library have the functions' names. */
static void test_plt_stubs_have_the_functions_names(void **state)
{
    struct elf_file *file = own_file();
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    Elf *elf = (elf_version(EV_CURRENT), elf_begin(fd, ELF_C_READ, NULL));
    Elf_Scn *section = NULL;
    size_t names;
    bool found = false, any = false;

    (void)state;
    assert_non_null(elf);
    assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
    while ((section = elf_nextscn(elf, section))) {
        struct native_symbol symbol;
        GElf_Shdr header;

        assert_non_null(gelf_getshdr(section, &header));
        if (strncmp(elf_strptr(elf, names, header.sh_name), ".plt", 4) != 0)
            continue;
        any = true;
        for (uint64_t at = header.sh_addr; at < header.sh_addr + header.sh_size; at += 8) {
            if (native_symbol_find(file, at + file->bias, &symbol))
                found |= strcmp(symbol.name, "getpid@plt") == 0;
        }
    }
    elf_end(elf);
    close(fd);
    if (!any)
        skip();
    assert_true(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_function_is_found_over_its_exact_extent, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_address_without_a_symbol_has_no_name, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_innermost_function_is_found_in_any_order, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_function_without_a_size_ends_where_its_code_does,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_answers_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_likeness_is_unique_in_the_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_symbols_are_found_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stripped_library_has_names_from_dynsym, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_cpp_names_are_demangled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_come_from_the_separate_debug_file, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_plt_stubs_have_the_functions_names, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
