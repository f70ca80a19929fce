// SPDX-License-Identifier: Apache-2.0
/* Summaries on terminals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/terminal.h"

static void expect(const struct terminal *terminal, const char *summary, const char *expected)
{
    struct buffer text = {0};

    terminal_fit(terminal, summary, &text);
    buffer_byte(&text, '\0');
    assert_string_equal(text.data, expected);
    buffer_free(&text);
}

/* Text is wrapped below its label. A command stays in one line, to be copied. */
static void test_text_is_wrapped_and_commands_are_not(void **state)
{
    const struct terminal narrow = {.is_terminal = true, .width = 40};

    (void)state;
    expect(&narrow,
           "busy      14.2 % of the time of 2 schedulers; garbage collection 1.2 %\n"
           "next      sudo beamflame dump -p 8658 --list processes --top 10:msgq\n",
           "busy      14.2 % of the time of 2\n"
           "          schedulers; garbage collection\n"
           "          1.2 %\n"
           "next      sudo beamflame dump -p 8658 --list processes --top 10:msgq\n");
}

/* If a row is too wide, its name is shortened in the middle. Numbers, and rows that fit, stay as
 * they are. */
static void test_names_are_cut_in_their_middle(void **state)
{
    const struct terminal narrow = {.is_terminal = true, .width = 50};

    (void)state;
    expect(
        &narrow,
        "  12.6 ms  19.4 %  <0.612.0>  channel 127.0.0.1:52126 -> 127.0.0.1:37201 (1)\n"
        "  12.6 ms  19.4 %  <0.612.0>  \u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4"
        "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\n"
        "  12.6 ms  19.4 %  <0.612.0>  cart\n"
        "  1  2  3  4  5  6  7  8  9  10  11  12  13  14  15  16\n"
        "  +1,423,456,789 words  2,987 words  lists:mapfoldl_1/3\n",
        "  12.6 ms  19.4 %  <0.612.0>  channel ...37201 (1)\n"
        "  12.6 ms  19.4 %  <0.612.0>  \u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4..."
        "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\n"
        "  12.6 ms  19.4 %  <0.612.0>  cart\n"
        "  1  2  3  4  5  6  7  8  9  10  11  12  13  14  15  16\n"
        "  +1,423,456,789 words  2,987 words  lists...l_1/3\n");
}

/* Labels and headings are bold, where the terminal has styles. */
static void test_labels_and_headings_have_styles(void **state)
{
    const struct terminal styles = {.is_terminal = true, .has_styles = true};

    (void)state;
    expect(&styles,
           "busy      1 %\ngrows     a\nnext      b\n\nprocesses with most CPU time\n  a\n",
           "\033[1mbusy      \033[0m1 %\n\033[1;33mgrows     \033[0ma\n"
           "\033[1mnext      \033[0m\033[1;36mb\033[0m\n\n"
           "\033[1mprocesses with most CPU time\033[0m\n  a\n");
}

static size_t rows_of(const char *text, int columns)
{
    return terminal_rows(text, strlen(text), columns, 9);
}

/* Wide lines take several rows. Styles take no room, wide characters two columns. */
static void test_rows_are_those_of_the_terminal(void **state)
{
    (void)state;
    assert_int_equal(rows_of("", 4), 0);
    assert_int_equal(rows_of("\n", 4), 1);
    assert_int_equal(rows_of("abcd\nefgh", 4), 2);
    assert_int_equal(rows_of("abcde\n\nfghi\n", 4), 4);
    assert_int_equal(rows_of("abcdefghijklm\n", 0), 1);
    assert_int_equal(rows_of("\033[1;33mabcd\033[0m\n", 4), 1);
    assert_int_equal(rows_of("\u00e4\u00e4\u00e4\u00e4\n", 4), 1);
    assert_int_equal(rows_of("\u4e2d\u4e2d\u4e2d\n", 4), 2);
    assert_int_equal(rows_of("\033[1", 4), 1);
    assert_int_equal(rows_of("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", 4), 9);
}

/* A pipe is no terminal, whatever the environment says. */
static void test_pipe_is_no_terminal(void **state)
{
    struct terminal terminal;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    setenv("COLUMNS", "60", 1);
    setenv("TERM", "xterm", 1);
    terminal = terminal_of(ends[1]);
    assert_false(terminal.is_terminal);
    assert_false(terminal.has_styles);
    assert_int_equal(terminal.width, 0);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_wrapped_and_commands_are_not),
        cmocka_unit_test(test_names_are_cut_in_their_middle),
        cmocka_unit_test(test_labels_and_headings_have_styles),
        cmocka_unit_test(test_rows_are_those_of_the_terminal),
        cmocka_unit_test(test_pipe_is_no_terminal),
    };

    return cmocka_run_group_tests_name("terminal", tests, NULL, NULL);
}
