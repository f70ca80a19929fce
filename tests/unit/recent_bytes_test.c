// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "native/recent_bytes.h"

static void fill(struct recent_bytes *recent, uint64_t offset, uint8_t value, size_t size)
{
    struct recent_part *part = recent_bytes_replace(recent, offset);

    memset(part->bytes, value, size);
    part->size = size;
}

/* Bytes are copied if one part has them all, up to its last byte and not further. */
static void test_bytes_of_a_part_are_copied(void **state)
{
    struct recent_bytes recent = {.oldest = 0};
    uint8_t bytes[16] = {0};

    (void)state;
    assert_false(recent_bytes_copy(&recent, 0, bytes, 1));
    fill(&recent, 0x12345, 7, 0x1000);
    assert_true(recent_bytes_copy(&recent, 0x12000, bytes, 16));
    assert_int_equal(bytes[0], 7);
    assert_int_equal(bytes[15], 7);
    assert_true(recent_bytes_copy(&recent, 0x12ff0, bytes, 16));
    assert_false(recent_bytes_copy(&recent, 0x12ff1, bytes, 16));
    assert_false(recent_bytes_copy(&recent, 0x11fff, bytes, 1));
    assert_false(recent_bytes_copy(&recent, 0x12000, bytes, SIZE_MAX));
    assert_false(recent_bytes_copy(&recent, UINT64_MAX, bytes, 16));
    recent_bytes_forget(&recent);
    assert_false(recent_bytes_copy(&recent, 0x12000, bytes, 1));
}

static void test_the_oldest_part_is_replaced(void **state)
{
    struct recent_bytes recent = {.oldest = 0};
    uint8_t byte;

    (void)state;
    for (uint8_t i = 0; i <= RECENT_PARTS; i++)
        fill(&recent, (uint64_t)i * RECENT_PART_BYTES, i, RECENT_PART_BYTES);
    assert_false(recent_bytes_copy(&recent, 0, &byte, 1));
    for (uint8_t i = 1; i <= RECENT_PARTS; i++) {
        assert_true(recent_bytes_copy(&recent, (uint64_t)i * RECENT_PART_BYTES, &byte, 1));
        assert_int_equal(byte, i);
    }
    recent_bytes_forget(&recent);
}

/* A part whose bytes could not be read has none. */
static void test_a_part_without_bytes_is_not_copied(void **state)
{
    struct recent_bytes recent = {.oldest = 0};
    uint8_t byte;

    (void)state;
    for (int i = 0; i < RECENT_PARTS; i++)
        fill(&recent, 0, 1, 1);
    for (int i = 0; i < RECENT_PARTS; i++)
        recent_bytes_replace(&recent, 0);
    assert_false(recent_bytes_copy(&recent, 0, &byte, 1));
    assert_false(recent_bytes_copy(&recent, 0, &byte, 0));
    recent_bytes_forget(&recent);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_of_a_part_are_copied),
        cmocka_unit_test(test_the_oldest_part_is_replaced),
        cmocka_unit_test(test_a_part_without_bytes_is_not_copied),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
