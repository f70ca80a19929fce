// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "util/optional_text.h"

static void test_equal_texts_have_equal_bytes_or_are_both_missing(void **state)
{
    const char text[] = "shop", same[] = "shop";

    (void)state;
    assert_true(optional_text_equal(text, same));
    assert_true(optional_text_equal(NULL, NULL));
    assert_false(optional_text_equal(text, "shop2"));
    assert_false(optional_text_equal(text, NULL));
    assert_false(optional_text_equal(NULL, ""));
}

static void test_copies_are_new_texts_or_missing(void **state)
{
    const char text[] = "shop";
    char *copy = optional_text_copy(text);

    (void)state;
    assert_ptr_not_equal(copy, text);
    assert_string_equal(copy, text);
    assert_null(optional_text_copy(NULL));
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_texts_have_equal_bytes_or_are_both_missing),
        cmocka_unit_test(test_copies_are_new_texts_or_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
