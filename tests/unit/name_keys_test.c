// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "beam/name_keys.h"

static void assert_key(const char *text, const char *atom, uint32_t element)
{
    struct name_keys keys = {0};
    struct error error;

    assert_int_equal(name_keys_add(&keys, text, &error), 0);
    assert_int_equal(keys.count, 1);
    assert_string_equal(keys.keys[0].atom, atom);
    assert_int_equal(keys.keys[0].element, element);
}

static void assert_map_key(const char *text, const char *atom, const char *map_key)
{
    struct name_keys keys = {0};
    struct error error;

    assert_int_equal(name_keys_add(&keys, text, &error), 0);
    assert_string_equal(keys.keys[0].atom, atom);
    assert_string_equal(keys.keys[0].map_key, map_key);
    assert_int_equal(keys.keys[0].element, 0);
}

static void test_keys_of_maps_are_read_as_keys_are(void **state)
{
    (void)state;
    assert_map_key("shop/id", "shop", "id");
    assert_map_key("$logger_metadata$/request_id", "$logger_metadata$", "request_id");
    assert_map_key("Shop/:id", "Elixir.Shop", "id");
    assert_map_key("'a/b'/'c/d'", "a/b", "c/d");
    assert_map_key("shop/Shop.Id", "shop", "Elixir.Shop.Id");
}

static void assert_no_key(const char *text)
{
    struct name_keys keys = {0};
    struct error error;

    assert_int_equal(name_keys_add(&keys, text, &error), -1);
    assert_int_equal(error.code, ERROR_USAGE);
    assert_non_null(strstr(error.text, "--name-by takes an atom or a text"));
    assert_int_equal(keys.count, 0);
}

static void test_atoms_are_read_as_erlang_writes_them(void **state)
{
    (void)state;
    assert_key("shop_id", "shop_id", 0);
    assert_key("shop_id/2", "shop_id", 2);
    assert_key("$shop", "$shop", 0);
    assert_key("gr\xc3\xb6\xc3\x9f"
               "e@1/255",
               "gr\xc3\xb6\xc3\x9f"
               "e@1",
               255);
    assert_key("'shop id'/12", "shop id", 12);
    assert_key("'a/b'", "a/b", 0);
    assert_key("'it\\'s \\\\'/1", "it's \\", 1);
    assert_key("'Shop'", "Shop", 0);
}

static void test_atoms_are_read_as_elixir_writes_them(void **state)
{
    (void)state;
    assert_key(":shop_id/3", "shop_id", 3);
    assert_key(":\"shop id\"/3", "shop id", 3);
    assert_key(":Shop", "Shop", 0);
    assert_key("Shop.Id/1", "Elixir.Shop.Id", 1);
    assert_key("Elixir.Shop.Id", "Elixir.Shop.Id", 0);
}

static void assert_kind(const char *text, const char *atom, enum name_key_kind kind)
{
    struct name_keys keys = {0};
    struct error error;

    assert_int_equal(name_keys_add(&keys, text, &error), 0);
    assert_string_equal(keys.keys[0].atom, atom);
    assert_int_equal(keys.keys[0].kind, kind);
}

static void test_texts_are_keys_in_either_notation(void **state)
{
    struct name_keys keys = {0};
    struct error error;

    (void)state;
    assert_kind("t4", "t4", NAME_KEY_ATOM);
    assert_kind(":\"t4\"", "t4", NAME_KEY_ATOM);
    assert_kind("\"t4\"", "t4", NAME_KEY_STRING);
    assert_kind("\"a \\\"b\\\" /c\"/2", "a \"b\" /c", NAME_KEY_STRING);
    assert_kind("<<\"t4\">>", "t4", NAME_KEY_BINARY);
    assert_kind("<<\"gr\xc3\xbcn\"/utf8>>/id", "gr\xc3\xbcn", NAME_KEY_BINARY);
    assert_int_equal(name_keys_add(&keys, "Shop/\"id\"", &error), 0);
    assert_int_equal(keys.keys[0].kind, NAME_KEY_ATOM);
    assert_int_equal(keys.keys[0].map_key_kind, NAME_KEY_STRING);
    assert_string_equal(keys.keys[0].map_key, "id");
}

static void test_other_texts_are_refused(void **state)
{
    static const char *const texts[] = {
        "",           "/1",       "''",       ":",    "a/",
        "a/0",        "a/256",    "a/-1",     "a/1x", "a/1/2",
        "a/b/c",      "a/b/1",    "a b",      "'a",   "'a\\",
        "'\\n'",      "\"a",      ":'a'",     "a:b",  "{a,b}",
        "'a'b",       "\xff\xfe", "a/ 1",     "a//1", "a/4294967297",
        "<<a>>",      "<<\"a\"",  "<<\"\">>", "\"\"", "\"a\"b",
        "<<\"a\">>b",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        assert_no_key(texts[i]);
}

/* 255 characters, in any number of bytes. */
static void test_atoms_have_the_length_that_the_vm_allows(void **state)
{
    char text[4 * 300] = "";

    (void)state;
    for (int i = 0; i < 255; i++)
        strcat(text, "\xf0\x9f\x8c\xb3");
    assert_key(text, text, 0);
    strcat(text, "a");
    assert_no_key(text);
    for (int size = 256; size < 1200; size += 943) {
        memset(text, 'a', (size_t)size);
        text[size] = '\0';
        assert_no_key(text);
    }
}

static void test_number_of_keys_is_limited(void **state)
{
    struct name_keys keys = {0};
    struct error error;

    (void)state;
    for (int i = 0; i < NAME_KEYS_MAX; i++)
        assert_int_equal(name_keys_add(&keys, "key", &error), 0);
    assert_int_equal(name_keys_add(&keys, "key", &error), -1);
    assert_non_null(strstr(error.text, "at most 8 keys"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_atoms_are_read_as_erlang_writes_them),
        cmocka_unit_test(test_atoms_are_read_as_elixir_writes_them),
        cmocka_unit_test(test_keys_of_maps_are_read_as_keys_are),
        cmocka_unit_test(test_texts_are_keys_in_either_notation),
        cmocka_unit_test(test_other_texts_are_refused),
        cmocka_unit_test(test_atoms_have_the_length_that_the_vm_allows),
        cmocka_unit_test(test_number_of_keys_is_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
