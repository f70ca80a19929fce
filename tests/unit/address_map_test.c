// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "util/address_map.h"

/* Entries are found, also after the table has grown; other addresses are not. */
static void test_entries_are_found_after_the_map_has_grown(void **state)
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
static void test_later_value_replaces_an_earlier_one(void **state)
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
static void test_address_0_is_never_found(void **state)
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
static void test_full_map_is_cleared(void **state)
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

static void test_cleared_map_is_empty_and_can_be_filled_again(void **state)
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

static void test_all_values_change_at_once_and_addresses_stay(void **state)
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
static void test_each_address_gets_its_own_place_until_the_map_is_full(void **state)
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
        cmocka_unit_test(test_each_address_gets_its_own_place_until_the_map_is_full),
        cmocka_unit_test(test_entries_are_found_after_the_map_has_grown),
        cmocka_unit_test(test_later_value_replaces_an_earlier_one),
        cmocka_unit_test(test_address_0_is_never_found),
        cmocka_unit_test(test_full_map_is_cleared),
        cmocka_unit_test(test_cleared_map_is_empty_and_can_be_filled_again),
        cmocka_unit_test(test_all_values_change_at_once_and_addresses_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
