// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "util/nearest_word.h"

/* Return the word nearest to `typed` of "a b c", or NULL. */
static const char *nearest_of(const char *typed, const char *words)
{
    static char copy[1000];
    struct nearest_word nearest = nearest_word_begin(typed);

    strcpy(copy, words);
    for (char *rest = NULL, *word = strtok_r(copy, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest))
        nearest_word_consider(&nearest, word);
    return nearest.word;
}

static void test_word_with_fewest_mistakes_is_nearest(void **state)
{
    (void)state;
    assert_string_equal(nearest_of("interal", "integral interval internal"), "integral");
    assert_string_equal(nearest_of("max_sise", "max_age max_size max_memory"), "max_size");
    assert_string_equal(nearest_of("URL", "PURL URL"), "URL");
}

/* As if two bytes were wrong, however long the rest is. */
static void test_word_that_contains_what_was_typed_is_near(void **state)
{
    (void)state;
    assert_string_equal(nearest_of("password", "passover password_file"), "password_file");
    assert_string_equal(nearest_of("PASSWORD", "password_file"), "password_file");
    assert_string_equal(nearest_of("stock", "Shop.Stock stack"), "stack");
}

static void test_other_words_are_not_near(void **state)
{
    char typed[600] = "", words[600] = "";

    (void)state;
    assert_null(nearest_of("", "cpu wall"));
    assert_null(nearest_of("cpu", "url"));
    assert_null(nearest_of("events", "protocol"));
    memset(typed, 'a', 500);
    memset(words, 'b', 500);
    assert_null(nearest_of(typed, words));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_word_with_fewest_mistakes_is_nearest),
        cmocka_unit_test(test_word_that_contains_what_was_typed_is_near),
        cmocka_unit_test(test_other_words_are_not_near),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
