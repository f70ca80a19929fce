// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/kernel_symbols.h"

/* Return the address of `name` in /proc/kallsyms. */
static uint64_t address_of(const char *name)
{
    FILE *file = fopen("/proc/kallsyms", "re");
    unsigned long long address, found = 0;
    char type, symbol[512], line[1024];

    assert_non_null(file);
    while (!found && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "%llx %c %511s", &address, &type, symbol) == 3 &&
            strcmp(symbol, name) == 0)
            found = address;
    }
    fclose(file);
    return found;
}

static struct kernel_symbols *symbols_or_skip(void)
{
    struct error error = {0};
    struct kernel_symbols *symbols = kernel_symbols_new(&error);

    if (!symbols) {
        assert_int_equal(error.code, ERROR_PERMISSION);
        assert_true(error.text[0] != '\0');
        skip();
    }
    return symbols;
}

/* An address in a function gives its name, its start, and the kernel as its module. */
static void test_address_in_a_kernel_function_has_its_name(void **state)
{
    static const char *const names[] = {"vfs_read", "schedule", "do_exit"};
    struct kernel_symbols *symbols = symbols_or_skip();

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        uint64_t address = address_of(names[i]);
        uint64_t start = 0;
        const char *module = NULL;
        const char *name;

        assert_true(address != 0);
        name = kernel_symbols_find(symbols, address + 5, &start, &module);
        assert_non_null(name);
        assert_string_equal(name, names[i]);
        assert_true(start == address);
        assert_string_equal(module, "[kernel.kallsyms]");
        name = kernel_symbols_find(symbols, address - 1, &start, &module);
        assert_true(!name || strcmp(name, names[i]) != 0);
    }
    kernel_symbols_free(symbols);
}

/* Addresses below and beyond the kernel have no name. */
static void test_addresses_outside_of_the_kernel_have_no_name(void **state)
{
    struct kernel_symbols *symbols = symbols_or_skip();
    uint64_t start = 42;
    const char *module = NULL;

    (void)state;
    assert_null(kernel_symbols_find(symbols, 0, &start, &module));
    assert_null(kernel_symbols_find(symbols, 0x7fffffffffff, &start, &module));
    assert_null(kernel_symbols_find(symbols, UINT64_MAX, &start, &module));
    assert_true(start == 42 && !module);
    kernel_symbols_free(symbols);
    kernel_symbols_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_address_in_a_kernel_function_has_its_name),
        cmocka_unit_test(test_addresses_outside_of_the_kernel_have_no_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
