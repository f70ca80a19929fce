// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "beam/function_name.h"

static void parses_as(const char *text, const char *module, const char *function, uint32_t arity)
{
    struct function_name name;
    struct error error;

    assert_int_equal(function_name_parse(text, &name, &error), 0);
    assert_string_equal(name.module, module);
    assert_string_equal(name.function, function);
    assert_int_equal(name.arity, arity);
}

static void is_refused(const char *text)
{
    struct function_name name;
    struct error error = {0};

    assert_int_equal(function_name_parse(text, &name, &error), -1);
    assert_int_equal(error.code, ERROR_USAGE);
}

static void test_names_of_erlang(void **state)
{
    (void)state;
    parses_as("lists:map/2", "lists", "map", 2);
    parses_as("lists:map", "lists", "map", FUNCTION_NAME_ANY_ARITY);
    parses_as("'my mod':'f: g/1'/3", "my mod", "f: g/1", 3);
    parses_as("a:'it\\'s'/0", "a", "it's", 0);
    parses_as("'it\\'s: a':b/0", "it's: a", "b", 0);
    parses_as("'Elixir.Enum':map/2", "Elixir.Enum", "map", 2);
}

static void test_names_of_elixir(void **state)
{
    (void)state;
    parses_as("Enum.map/2", "Elixir.Enum", "map", 2);
    parses_as("Shop.Stock.count", "Elixir.Shop.Stock", "count", FUNCTION_NAME_ANY_ARITY);
    parses_as("Elixir.Enum.map/2", "Elixir.Enum", "map", 2);
    parses_as("Shop.valid?/1", "Elixir.Shop", "valid?", 1);
}

/* The arity of a fun's name is not that of the fun. */
static void test_names_of_funs(void **state)
{
    (void)state;
    parses_as("a:'-run/1-fun-0-'/2", "a", "-run/1-fun-0-", 2);
    parses_as("a:-run/1-fun-0-", "a", "-run/1-fun-0-", FUNCTION_NAME_ANY_ARITY);
    parses_as("Enum.-map/2-lists^map/1-0-/2", "Elixir.Enum", "-map/2-lists^map/1-0-", 2);
}

static void is_pattern(const char *text, bool of_module, bool of_function, uint32_t arity)
{
    struct function_name name;
    struct error error;

    assert_int_equal(function_name_parse(text, &name, &error), 0);
    assert_int_equal(name.module_is_pattern, of_module);
    assert_int_equal(name.function_is_pattern, of_function);
    assert_int_equal(name.arity, arity);
}

/* Atoms in quotes are no patterns. */
/* Only `*` is special. It takes as much as the rest of the pattern needs. */
static void test_stars(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool fits;
    } cases[] = {
        {"*", "", true},          {"*", "map", true},
        {"ma*", "map", true},     {"ma*", "fold", false},
        {"*a*b*", "xabab", true}, {"*ab", "abab", true},
        {"*ab", "aba", false},    {"a*a", "a", false},
        {"**", "a", true},        {"*?", "empty?", true},
        {"*?", "empty", false},   {"[a]*", "a", false},
        {"[a]*", "[a]b", true},   {"", "", true},
        {"", "a", false},         {"a*a*a*a", "aaaab", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(function_name_fits(cases[i].pattern, cases[i].text), cases[i].fits);
}

static void test_patterns(void **state)
{
    (void)state;
    parses_as("lists:_/_", "lists", "*", FUNCTION_NAME_ANY_ARITY);
    parses_as("shop_*:handle_*/2", "shop_*", "handle_*", 2);
    parses_as("Shop.*:_", "Shop.*", "*", FUNCTION_NAME_ANY_ARITY);
    parses_as("Shop.Cart._", "Elixir.Shop.Cart", "*", FUNCTION_NAME_ANY_ARITY);
    parses_as("Shop.Cart.add*/1", "Elixir.Shop.Cart", "add*", 1);
    is_pattern("lists:_/_", false, true, FUNCTION_NAME_ANY_ARITY);
    is_pattern("shop_*:get/1", true, false, 1);
    is_pattern("erlang:'*'/2", false, false, 2);
    is_pattern("'_':'_'/_", false, false, FUNCTION_NAME_ANY_ARITY);
}

static bool matches(const char *pattern, const char *symbol)
{
    struct function_name name;
    struct error error;

    assert_int_equal(function_name_parse(pattern, &name, &error), 0);
    return function_name_matches(&name, symbol);
}

static void test_names_match_what_frames_show(void **state)
{
    (void)state;
    assert_true(matches("lists:map/2", "lists:map/2"));
    assert_false(matches("lists:map/2", "lists:map/3"));
    assert_false(matches("lists:map/2", "lists:mapfoldl/3"));
    assert_true(matches("lists:map", "lists:map/2"));
    assert_true(matches("lists:_/2", "lists:map/2"));
    assert_false(matches("lists:_/2", "maps:map/2"));
    assert_true(matches("shop_*:handle_*/_", "shop_cart:handle_call/3"));
    assert_false(matches("shop_*:handle_*/_", "shop_cart:init/1"));
    assert_true(matches("a:'*'/_", "a:*/2"));
    assert_false(matches("a:'*'/_", "a:b/2"));
    assert_true(matches("'my mod':'f g'/1", "'my mod':'f g'/1"));
    assert_false(matches("_:_/_", "memcpy"));
}

static void test_names_match_in_both_notations(void **state)
{
    (void)state;
    assert_true(matches("Enum.map/2", "Enum.map/2"));
    assert_true(matches("'Elixir.Enum':map/2", "Enum.map/2"));
    assert_true(matches("Shop.*:_", "Shop.Cart.add/2"));
    assert_true(matches("'Elixir.Shop.Cart':_", "Shop.Cart.add/2"));
    assert_false(matches("Shop.*:_", "Store.Cart.add/2"));
}

static void test_other_texts_are_refused(void **state)
{
    char text[5000];

    (void)state;
    is_refused("");
    is_refused("lists");
    is_refused(":map/2");
    is_refused("lists:/2");
    is_refused("lists:''/2");
    is_refused("Enum/2");
    is_refused("lists.map/2");
    memset(text, 'a', sizeof(text));
    memcpy(text + sizeof(text) - 6, "b:c/1", 6);
    is_refused(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_erlang),
        cmocka_unit_test(test_names_of_elixir),
        cmocka_unit_test(test_names_of_funs),
        cmocka_unit_test(test_stars),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_names_match_what_frames_show),
        cmocka_unit_test(test_names_match_in_both_notations),
        cmocka_unit_test(test_other_texts_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
