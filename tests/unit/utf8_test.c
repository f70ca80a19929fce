// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"

#define BAD "\xef\xbf\xbd"

static void assert_clean(const char *text, const char *expected)
{
    char *clean = utf8_clean_string(text);

    assert_string_equal(clean, expected);
    assert_true(utf8_is_clean(clean, strlen(clean)));
    assert_true(utf8_is_clean(text, strlen(text)) == !strcmp(text, expected));
    free(clean);
}

static void test_text_stays(void **state)
{
    (void)state;
    assert_clean("plain ~ caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x94\xa5", /* é, 中, fire */
                 "plain ~ caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x94\xa5");
    assert_clean("\xd9\x85\xe2\x80\x8c\xd9\x87", "\xd9\x85\xe2\x80\x8c\xd9\x87"); /* U+200C */
    assert_clean("\xef\xbf\xbd", BAD);
}

static void test_controls_are_replaced(void **state)
{
    (void)state;
    assert_clean("\x1b[31m", BAD "[31m");
    assert_clean("a\nb\tc\rd\x7f", "a" BAD "b" BAD "c" BAD "d" BAD);
    assert_clean("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", BAD BAD BAD "\xc2\xa0"); /* C1; U+00A0 stays */
    assert_clean("\xe2\x80\xa8\xe2\x80\xa9", BAD BAD);                        /* separators */
}

static void test_direction_is_replaced(void **state)
{
    static const char *const controls[] = {
        "\xd8\x9c",     "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xaa",
        "\xe2\x80\xab", "\xe2\x80\xac", "\xe2\x80\xad", "\xe2\x80\xae",
        "\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8", "\xe2\x81\xa9",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
        assert_clean(controls[i], BAD);
}

static void test_noncharacters_are_replaced(void **state)
{
    (void)state;
    assert_clean("\xef\xbf\xbe", BAD);     /* U+FFFE */
    assert_clean("\xef\xbf\xbf", BAD);     /* U+FFFF */
    assert_clean("\xef\xb7\x90", BAD);     /* U+FDD0 */
    assert_clean("\xf0\x9f\xbf\xbe", BAD); /* U+1FFFE */
}

static void test_bytes_that_are_not_utf8(void **state)
{
    (void)state;
    assert_clean("\xff", BAD);
    assert_clean("\xed\xa0\x80", BAD BAD BAD); /* a surrogate */
    assert_clean("\xc0\xaf", BAD BAD);         /* too long for its number */
    assert_clean("\xe4\xb8", BAD BAD);         /* cut */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_stays),
        cmocka_unit_test(test_controls_are_replaced),
        cmocka_unit_test(test_direction_is_replaced),
        cmocka_unit_test(test_noncharacters_are_replaced),
        cmocka_unit_test(test_bytes_that_are_not_utf8),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
