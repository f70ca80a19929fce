// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "util/quantity.h"

static void test_bytes_have_binary_units(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {{"20000", 20000},
                 {"100k", 102400},
                 {"20M", 20 << 20},
                 {"1G", 1 << 30},
                 {"8589934591G", UINT64_C(8589934591) << 30}};
    uint64_t bytes;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(quantity_bytes(cases[i].text, &bytes));
        assert_int_equal(bytes, cases[i].bytes);
    }
}

static void test_other_texts_are_no_bytes(void **state)
{
    static const char *const texts[] = {"",   "k",   "0",    "-1M",         "1T",
                                        "1m", "1MB", "1.5M", "8589934592G", "99999999999999999999"};
    uint64_t bytes = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_false(quantity_bytes(texts[i], &bytes));
    assert_int_equal(bytes, 7);
}

static void test_whole_numbers_have_limits(void **state)
{
    long value = 0;

    (void)state;
    assert_true(quantity_whole("-5", -5, 5, &value));
    assert_int_equal(value, -5);
    assert_false(quantity_whole("6", -5, 5, &value));
    assert_false(quantity_whole("1x", -5, 5, &value));
    assert_false(quantity_whole("", -5, 5, &value));
}

static void test_real_numbers_are_finite(void **state)
{
    double value = 0;

    (void)state;
    assert_true(quantity_real("0.25", &value));
    assert_true(value == 0.25);
    assert_false(quantity_real("inf", &value));
    assert_false(quantity_real("nan", &value));
    assert_false(quantity_real("1e999", &value));
    assert_false(quantity_real("1 ", &value));
}

static void test_times_have_units(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } times[] = {{"2", 2000000000}, {"0.5s", 500000000}, {"50ms", 50000000}, {"300us", 300000}};
    static const char *const others[] = {"",     "ms",   "0",    "-1s",   "50 ms", "5m",
                                         "5msx", "infs", "nans", "1e999", "1e10s", "0.0001us"};
    uint64_t ns = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(quantity_time(others[i], &ns));
    assert_int_equal(ns, 7);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        assert_true(quantity_time(times[i].text, &ns));
        assert_int_equal(ns, times[i].ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_have_binary_units),
        cmocka_unit_test(test_other_texts_are_no_bytes),
        cmocka_unit_test(test_whole_numbers_have_limits),
        cmocka_unit_test(test_real_numbers_are_finite),
        cmocka_unit_test(test_times_have_units),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
