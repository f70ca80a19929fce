// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "native/memory.h"

/* Memory from `start` to `end` in which each byte is derived from its address. */
static struct numbers {
    struct memory memory;
    uint64_t start, end;
    int reads;
} numbers;

static uint8_t byte_at(uint64_t address)
{
    return (uint8_t)(address ^ address >> 8);
}

static bool read_numbers(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    struct numbers *of = (struct numbers *)memory;

    of->reads++;
    if (address < of->start || address > of->end || size > of->end - address)
        return false;
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)buffer)[i] = byte_at(address + i);
    return true;
}

static struct read_cache open_numbers(uint64_t start, uint64_t end)
{
    struct read_cache cache;

    numbers = (struct numbers){{.read = read_numbers}, start, end, 0};
    read_cache_init(&cache, &numbers.memory);
    return cache;
}

static void assert_read(struct read_cache *cache, uint64_t address, size_t size)
{
    uint8_t buffer[2 * READ_CACHE_BYTES];

    assert_true(memory_read_cached(cache, address, buffer, size));
    for (size_t i = 0; i < size; i++)
        assert_int_equal(buffer[i], byte_at(address + i));
}

static void test_one_read_serves_all_addresses_nearby(void **state)
{
    struct read_cache cache = open_numbers(0, 1 << 20);

    (void)state;
    assert_read(&cache, 4096 + 500, 16);
    assert_read(&cache, 4096, 16);
    assert_read(&cache, 4096 + READ_CACHE_BYTES - 16, 16);
    assert_int_equal(numbers.reads, 1);
    assert_read(&cache, 4096 + READ_CACHE_BYTES, 8);
    assert_read(&cache, 4095, 1);
    assert_int_equal(numbers.reads, 3);
}

/* A read across a border, or larger than the buffer, is made directly. */
static void test_read_across_a_border_is_made_directly(void **state)
{
    struct read_cache cache = open_numbers(0, 1 << 20);

    (void)state;
    assert_read(&cache, 4096, 8);
    assert_read(&cache, 4096 + READ_CACHE_BYTES - 8, 16);
    assert_read(&cache, 4096 + 8, 2 * READ_CACHE_BYTES - 8);
    assert_int_equal(numbers.reads, 3);
    assert_read(&cache, 4096 + 100, 16);
    assert_int_equal(numbers.reads, 3);
}

/* If the surroundings are not all readable, the requested bytes can still be read; unreadable bytes
 * are not invented. */
static void test_unreadable_surroundings_do_not_fail_the_read(void **state)
{
    struct read_cache cache = open_numbers(4096 + 100, 4096 + 200);
    uint8_t buffer[32];

    (void)state;
    assert_read(&cache, 4096 + 100, 32);
    assert_read(&cache, 4096 + 150, 50);
    assert_false(memory_read_cached(&cache, 4096, buffer, 32));
    assert_false(memory_read_cached(&cache, 4096 + 190, buffer, 32));
    assert_false(memory_read_cached(&cache, 0, buffer, 8));
    assert_false(memory_read_cached(&cache, UINT64_MAX - 3, buffer, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_read_serves_all_addresses_nearby),
        cmocka_unit_test(test_read_across_a_border_is_made_directly),
        cmocka_unit_test(test_unreadable_surroundings_do_not_fail_the_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
