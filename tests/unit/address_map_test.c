// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "util/address_map.h"

/* Entries are found, also after the table has grown; other addresses are not. */
static void test_get(void **state)
{
    struct address_map *map = address_map_new(1 << 16);
    uint64_t value = 99;

    (void)state;
    assert_false(address_map_get(map, 8, &value));
    for (uint64_t i = 1; i <= 5000; i++)
        address_map_put(map, i * 8, i);
    for (uint64_t i = 1; i <= 5000; i++) {
        assert_true(address_map_get(map, i * 8, &value));
        assert_int_equal(value, i);
        assert_false(address_map_get(map, i * 8 + 1, &value));
    }
    address_map_free(map);
}

/* A value can be 0, and a later value replaces an earlier one. */
static void test_values(void **state)
{
    struct address_map *map = address_map_new(16);
    uint64_t value = 99;

    (void)state;
    address_map_put(map, 4096, 0);
    assert_true(address_map_get(map, 4096, &value));
    assert_int_equal(value, 0);
    address_map_put(map, 4096, 5);
    assert_true(address_map_get(map, 4096, &value));
    assert_int_equal(value, 5);
    address_map_free(map);
}

/* The address 0 is never found, and a failed look-up leaves the value unchanged. */
static void test_no_address(void **state)
{
    struct address_map *map = address_map_new(16);
    uint64_t value = 99;

    (void)state;
    address_map_put(map, 0, 1);
    assert_false(address_map_get(map, 0, &value));
    assert_int_equal(value, 99);
    address_map_free(map);
}

/* The map never holds more than its limit: when it is full it is cleared. */
static void test_limit(void **state)
{
    struct address_map *map = address_map_new(1000);
    uint64_t value;

    (void)state;
    for (uint64_t i = 1; i <= 10500; i++) {
        size_t held = 0;

        address_map_put(map, i, i);
        assert_true(address_map_get(map, i, &value));
        if (i % 2500)
            continue;
        for (uint64_t k = 1; k <= i; k++)
            held += address_map_get(map, k, &value);
        assert_true(held >= 1 && held <= 1000);
    }
    address_map_free(map);
}

/* A cleared map is empty, and can be filled again. */
static void test_clear(void **state)
{
    struct address_map *map = address_map_new(1000);
    uint64_t value;

    (void)state;
    for (uint64_t i = 1; i <= 600; i++)
        address_map_put(map, i << 32, i);
    address_map_clear(map);
    for (uint64_t i = 1; i <= 600; i++)
        assert_false(address_map_get(map, i << 32, &value));
    address_map_put(map, 7, 8);
    assert_true(address_map_get(map, 7, &value));
    assert_int_equal(value, 8);
    address_map_free(map);
    address_map_free(NULL);
}

static uint64_t add(void *context, uint64_t value)
{
    return value + *(const uint64_t *)context;
}

/* All values can be changed at once; the addresses stay. */
static void test_change_all(void **state)
{
    struct address_map *map = address_map_new(1000);
    uint64_t value, difference = 7;

    (void)state;
    for (uint64_t i = 1; i <= 600; i++)
        address_map_put(map, i << 32, i);
    address_map_change_all(map, add, &difference);
    for (uint64_t i = 1; i <= 600; i++) {
        assert_true(address_map_get(map, i << 32, &value));
        assert_int_equal(value, i + 7);
        assert_false(address_map_get(map, i, &value));
    }
    address_map_free(map);
}

/* Each address gets its own place, until no place is left. */
static void test_places(void **state)
{
    struct address_map *map = address_map_new(300);
    bool is_new;

    (void)state;
    for (uint64_t i = 0; i < 300; i++) {
        assert_int_equal(address_map_place(map, 1000 + i, &is_new), i);
        assert_true(is_new);
    }
    assert_int_equal(address_map_place(map, 1299, &is_new), 299);
    assert_false(is_new);
    assert_int_equal(address_map_place(map, 2000, &is_new), 0);
    assert_true(is_new);
    assert_int_equal(address_map_place(map, 1299, &is_new), 1);
    assert_true(is_new);
    address_map_free(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),     cmocka_unit_test(test_get),
        cmocka_unit_test(test_values),     cmocka_unit_test(test_no_address),
        cmocka_unit_test(test_limit),      cmocka_unit_test(test_clear),
        cmocka_unit_test(test_change_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
