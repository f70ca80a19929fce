// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "beam/term.h"
#include "calls/argument_text.h"
#include "fake_names.h"

static const char *const atom_names[] = {"ok"};
enum { OK };

static struct fake_names fake;

static int start(void **state)
{
    (void)state;
    fake_names_start(&fake, 25, atom_names, 1);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fake_names_stop(&fake);
    return 0;
}

static void expect(const struct wire_arguments *arguments, bool shapes_only, const char *expected,
                   bool is_cut)
{
    struct buffer text = {0};

    assert_int_equal(argument_text(&fake.names, arguments, shapes_only, &text), is_cut);
    buffer_byte(&text, '\0');
    assert_string_equal(text.data, expected);
    buffer_free(&text);
}

/* Contents are written from their places; what has none is "...", and is said to be cut. */
static void test_contents(void **state)
{
    struct wire_arguments arguments = {.arity = 3,
                                       .words = 9,
                                       .word = {wire_argument(WIRE_ARGUMENT_TUPLE, 3, 2, 3),
                                                wire_argument(WIRE_ARGUMENT_LIST, 5, 1, 0),
                                                wire_argument(WIRE_ARGUMENT_BINARY, 7, 9, 72),
                                                fake_atom_term(OK), fake_small(-1), fake_small('h'),
                                                wire_argument(WIRE_ARGUMENT_LIST, 0, 0, 0)}};

    (void)state;
    memcpy(&arguments.word[7], "nine byte", 9);
    expect(&arguments, false, "({ok,-1,...}, \"h\" ++ ..., <<\"nine byte\">>)", true);
    arguments.word[0] = wire_argument(WIRE_ARGUMENT_TUPLE, 3, 2, 2);
    arguments.word[6] = TAG_IMMED2_NIL;
    expect(&arguments, false, "({ok,-1}, \"h\", <<\"nine byte\">>)", false);
    arguments.word[6] = fake_small(1);
    expect(&arguments, false, "({ok,-1}, [104|1], <<\"nine byte\">>)", false);
    arguments.word[5] = fake_atom_term(OK);
    arguments.word[6] = wire_argument(WIRE_ARGUMENT_LIST, 0, 0, 0);
    expect(&arguments, false, "({ok,-1}, [ok|...], <<\"nine byte\">>)", true);
}

static void test_shapes(void **state)
{
    struct wire_arguments arguments = {.arity = 5,
                                       .words = 7,
                                       .word = {wire_argument(WIRE_ARGUMENT_TUPLE, 5, 2, 2),
                                                wire_argument(WIRE_ARGUMENT_LIST, 0, 1, 32),
                                                wire_argument(WIRE_ARGUMENT_BINARY, 0, 0, 80),
                                                wire_argument(WIRE_ARGUMENT_BINARY, 0, 0, 9),
                                                wire_argument(WIRE_ARGUMENT_TUPLE, 0, 0, 7),
                                                fake_atom_term(OK),
                                                wire_argument(WIRE_ARGUMENT_INTEGER, 0, 0, 0)}};

    (void)state;
    expect(&arguments, true,
           "({ok,integer}, list of 32+, binary of 10 bytes, bitstring of 9 bits, tuple of 7)",
           false);
}

/* Places that lead back, or out of the copy, are not followed. */
static void test_damaged_places(void **state)
{
    struct wire_arguments arguments = {
        .arity = 4,
        .words = 6,
        .word = {wire_argument(WIRE_ARGUMENT_TUPLE, 4, 1, 1),
                 wire_argument(WIRE_ARGUMENT_LIST, 5, 1, 0),
                 wire_argument(WIRE_ARGUMENT_BINARY, 4, 255, 8 * 255),
                 wire_argument(WIRE_ARGUMENT_MAP, 4, 2, 2),
                 wire_argument(WIRE_ARGUMENT_TUPLE, 4, 1, 1), wire_argument(63, 200, 200, 0)}};

    (void)state;
    expect(&arguments, false, "({{...}}, [...], <<...>>, #{...})", true);
}

/* Arguments after the 16th are cut, and all if registers could not be read. */
static void test_missing_arguments(void **state)
{
    struct wire_arguments arguments = {.arity = 17, .words = 16};
    const struct wire_arguments unread = {.arity = 2};
    const struct wire_arguments none = {.arity = 0};

    (void)state;
    for (size_t i = 0; i < 16; i++)
        arguments.word[i] = fake_small(1);
    expect(&arguments, false, "(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ...)", true);
    expect(&unread, false, "(...)", true);
    expect(&none, false, "()", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_contents, start, stop),
        cmocka_unit_test_setup_teardown(test_shapes, start, stop),
        cmocka_unit_test_setup_teardown(test_damaged_places, start, stop),
        cmocka_unit_test_setup_teardown(test_missing_arguments, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
