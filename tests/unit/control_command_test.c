// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "os/control_command.h"

/* A name is found, also with an argument, which keeps its own blanks. */
static void test_each_command_is_found_by_its_name(void **state)
{
    const char *argument;
    char request[64];

    (void)state;
    for (enum control_command i = 0; i < CONTROL_COMMANDS; i++) {
        const char *name = control_command_texts[i].name;

        assert_int_equal(control_command_find(name, &argument), i);
        assert_string_equal(argument, "");
        strcpy(request, name);
        strcat(request, " 'a b':c/1  x");
        assert_int_equal(control_command_find(request, &argument), i);
        assert_string_equal(argument, "'a b':c/1  x");
    }
}

/* A part of a name, a longer one, or none is no command. */
static void test_other_words_are_no_commands(void **state)
{
    static const char *const words[] = {"", " ", " add", "ad", "adds", "add\tx", "ADD", "list"};
    const char *argument;

    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        assert_int_equal(control_command_find(words[i], &argument), CONTROL_COMMANDS);
}

/* Help and completion list all of them. */
static void test_each_command_has_a_summary(void **state)
{
    (void)state;
    for (enum control_command i = 0; i < CONTROL_COMMANDS; i++) {
        assert_non_null(control_command_texts[i].name);
        assert_true(strlen(control_command_texts[i].summary) > 5);
    }
    assert_string_equal(control_command_texts[CONTROL_ADD].argument, "NAME");
    assert_null(control_command_texts[CONTROL_STOP].argument);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_command_is_found_by_its_name),
        cmocka_unit_test(test_other_words_are_no_commands),
        cmocka_unit_test(test_each_command_has_a_summary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
