// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "beam/module_symbols.h"
#include "util/alloc.h"

/* Make a module of one function, with a line. */
static struct gdb_jit_module make(const char *function, uint32_t line)
{
    size_t size = strlen(function) + 1;
    struct gdb_jit_module module = {
        .ranges = xcalloc(2, sizeof(struct gdb_jit_range)),
        .lines = xcalloc(1, sizeof(struct gdb_jit_line)),
        .strings = xstrdup(function),
        .range_count = 1,
        .line_count = 1,
    };

    module.ranges[0].end = 16;
    module.lines[0].line = line;
    module.bytes = 2 * sizeof(struct gdb_jit_range) + sizeof(struct gdb_jit_line) + size;
    return module;
}

static const struct module_symbols *share(const char *module, const char *function, uint32_t line)
{
    struct gdb_jit_module table = make(function, line);
    const struct module_symbols *symbols = module_symbols_share(module, &table);

    assert_null(table.ranges);
    return symbols;
}

/* Equal modules have their symbols once. */
static void test_equal_modules_share_their_symbols(void **state)
{
    const struct module_symbols *first = share("lists", "lists:map/2", 1239);
    const struct module_symbols *second = share("lists", "lists:map/2", 1239);

    (void)state;
    assert_ptr_equal(first, second);
    assert_string_equal(first->table.strings, "lists:map/2");
    assert_int_equal(first->kinds[0].kind, CODE_FUNCTION);
    module_symbols_release(first);
    assert_string_equal(second->table.strings, "lists:map/2"); /* it has a user still */
    module_symbols_release(second);
}

/* Modules that differ in anything have symbols of their own. */
static void test_other_modules_have_other_symbols(void **state)
{
    const struct module_symbols *first = share("lists", "lists:map/2", 1239);
    const struct module_symbols *of_line = share("lists", "lists:map/2", 1240);
    const struct module_symbols *of_name = share("lists", "lists:map/3", 1239);
    const struct module_symbols *of_kind = share("erts_beamasm", "lists:map/2", 1239);

    (void)state;
    assert_ptr_not_equal(first, of_line);
    assert_ptr_not_equal(first, of_name);
    assert_ptr_not_equal(first, of_kind);
    assert_int_equal(of_line->table.lines[0].line, 1240);
    module_symbols_release(first);
    module_symbols_release(of_line);
    module_symbols_release(of_name);
    module_symbols_release(of_kind);
    module_symbols_release(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_modules_share_their_symbols),
        cmocka_unit_test(test_other_modules_have_other_symbols),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
