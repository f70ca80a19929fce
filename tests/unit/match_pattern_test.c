// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beam/term.h"
#include "calls/call_match.h"
#include "fake_names.h"

static const char *const atom_names[] = {"false", "ok", "it's"};
enum { OK = 1, ITS = 2 };

static struct fake_names fake;
static struct match_pattern pattern;
static struct wire_match match;
static struct error error;

static int start(void **state)
{
    (void)state;
    fake_names_start(&fake, 25, atom_names, 3);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fake_names_stop(&fake);
    return 0;
}

static void make(const char *text)
{
    assert_int_equal(match_pattern_parse(text, &pattern, &error), 0);
    assert_int_equal(call_match_make(&pattern, &fake.names, &match, &error), 0);
}

static void expect_step(size_t number, enum wire_match_kind kind, unsigned int slot,
                        unsigned int to, unsigned int size, uint64_t value)
{
    const struct wire_match_step *step = &match.steps[number];

    assert_in_range(number, 0, match.count - 1);
    assert_int_equal(step->kind, kind);
    assert_int_equal(step->slot, slot);
    assert_int_equal(step->to, to);
    assert_int_equal(step->size, size);
    assert_int_equal(step->value, value);
}

/* Parts of terms get slots behind those of the arguments. */
static void test_steps(void **state)
{
    (void)state;
    make("m:f({ok, _, 'it\\'s'}, -3, [16#10 | _])");
    assert_string_equal(pattern.name.module, "m");
    assert_string_equal(pattern.name.function, "f");
    assert_int_equal(pattern.name.arity, 3);
    assert_int_equal(match.count, 6);
    expect_step(0, WIRE_MATCH_TUPLE, 0, 3, 3, 0);
    expect_step(1, WIRE_MATCH_EQUAL, 3, 0, 0, fake_atom_term(OK));
    expect_step(2, WIRE_MATCH_EQUAL, 5, 0, 0, fake_atom_term(ITS));
    expect_step(3, WIRE_MATCH_EQUAL, 1, 0, 0, fake_small(-3));
    expect_step(4, WIRE_MATCH_LIST, 2, 6, 2, 0);
    expect_step(5, WIRE_MATCH_EQUAL, 6, 0, 0, fake_small(16));
    make("m:f()");
    assert_int_equal(match.count, 0);
    make("'a (m':'f)'( _ )");
    assert_string_equal(pattern.name.module, "a (m");
    assert_int_equal(match.count, 0);
}

static void test_strings_are_lists(void **state)
{
    (void)state;
    make("m:f(\"a\\n\")");
    assert_int_equal(match.count, 5);
    expect_step(0, WIRE_MATCH_LIST, 0, 1, 2, 0);
    expect_step(1, WIRE_MATCH_EQUAL, 1, 0, 0, fake_small('a'));
    expect_step(2, WIRE_MATCH_LIST, 2, 3, 2, 0);
    expect_step(3, WIRE_MATCH_EQUAL, 3, 0, 0, fake_small('\n'));
    expect_step(4, WIRE_MATCH_EQUAL, 4, 0, 0, TAG_IMMED2_NIL);
}

/* A string ends with [], or with what follows "++". */
static void test_tails_of_strings(void **state)
{
    (void)state;
    make("m:f(\"a\" ++ _)");
    assert_int_equal(match.count, 2);
    expect_step(0, WIRE_MATCH_LIST, 0, 1, 2, 0);
    expect_step(1, WIRE_MATCH_EQUAL, 1, 0, 0, fake_small('a'));
    make("m:f(\"a\" ++ \"b\" ++ [1 | Tail])");
    assert_int_equal(match.count, 6);
    expect_step(5, WIRE_MATCH_EQUAL, 5, 0, 0, fake_small(1));
    make("m:f(\"\" ++ ok)");
    assert_int_equal(match.count, 1);
    expect_step(0, WIRE_MATCH_EQUAL, 0, 0, 0, fake_atom_term(OK));
}

/* Each stands for any term. */
static void test_variables(void **state)
{
    (void)state;
    make("m:f(X, {_Name, Other@1}, _, _, <<\"a\", Rest/binary>>, #{1 := XY})");
    assert_int_equal(match.count, 4);
    expect_step(0, WIRE_MATCH_TUPLE, 1, 6, 2, 0);
    expect_step(1, WIRE_MATCH_PREFIX, 4, 0, 1, 0);
    expect_step(2, WIRE_MATCH_PAIR, 5, 8, 1, 0);
    expect_step(3, WIRE_MATCH_EQUAL, 8, 0, 0, fake_small(1));
}

/* Erlang would compare the two terms, also if the name begins with `_`. */
static void test_variables_that_occur_twice(void **state)
{
    static const char *const texts[][2] = {{"m:f(X, X)", "X)"},
                                           {"m:f(_X, {_X})", "_X})"},
                                           {"m:f([Y | Y])", "Y])"},
                                           {"m:f(#{a := Z, b := Z})", "Z})"},
                                           {"m:f(R, <<1, R/binary>>)", "R/binary>>)"}};
    char expected[200];

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        assert_int_equal(match_pattern_parse(texts[i][0], &pattern, &error), -1);
        snprintf(expected, sizeof(expected),
                 "the kernel can't match a variable that occurs twice, from '%s' on: write _ in "
                 "its place",
                 texts[i][1]);
        assert_string_equal(error.text, expected);
    }
}

/* The message says what can stand in its place. */
static void test_parts_that_can_not_be_compared(void **state)
{
    static const char *const parts[][2] = {
        {"<<5:3>>",
         "the size or type of a segment, from '5:3>>)' on: write _ in place of the binary"},
        {"<<X, 1>>", "this segment of a binary, from 'X, 1>>)' on: write _ in place of the binary"},
        {"<<_/bits>>",
         "this segment of a binary, from '_/bits>>)' on: write _ in place of the binary"},
        {"{<<1>>, #Port<0.4>}",
         "a record, fun, port or reference, from '#Port<0.4>})' on: write _ in its place"},
        {"fun lists:map/2", "a fun, from 'fun lists:map/2)' on: write _ in its place"},
    };
    char text[100];

    (void)state;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        snprintf(text, sizeof(text), "m:f(%s)", parts[i][0]);
        assert_int_equal(match_pattern_parse(text, &pattern, &error), -1);
        assert_string_equal(error.text + strlen("the kernel can't match "), parts[i][1]);
    }
}

/* Characters are bytes, or UTF-8 with "/utf8". */
static void test_binaries(void **state)
{
    (void)state;
    make("m:f(<<\"\xc3\xa9\", 1>>, <<\"\xc3\xa9\"/utf8, _/binary>>, <<>>)");
    assert_int_equal(match.count, 3);
    expect_step(0, WIRE_MATCH_BINARY, 0, 0, 2, 0);
    expect_step(1, WIRE_MATCH_PREFIX, 1, 0, 2, 1);
    expect_step(2, WIRE_MATCH_BINARY, 2, 0, 0, 2);
    assert_int_equal(match.bytes[0][0], 0x01e9);
    assert_int_equal(match.bytes[1][0], 0xa9c3);
}

static void test_integers_that_are_small_terms(void **state)
{
    (void)state;
    make("m:f(576460752303423487, -576460752303423488)");
    expect_step(0, WIRE_MATCH_EQUAL, 0, 0, 0, fake_small(INT64_C(576460752303423487)));
    expect_step(1, WIRE_MATCH_EQUAL, 1, 0, 0, fake_small(INT64_C(-576460752303423488)));
}

/* The bytes of an object begin with its header. */
static void test_numbers_that_are_objects(void **state)
{
    (void)state;
    make("m:f(576460752303423488, -576460752303423489, 1.5)");
    assert_int_equal(match.count, 3);
    expect_step(0, WIRE_MATCH_NUMBER, 0, 0, 16, 0);
    expect_step(1, WIRE_MATCH_NUMBER, 1, 0, 16, 1);
    expect_step(2, WIRE_MATCH_NUMBER, 2, 0, 16, 2);
    assert_int_equal(match.bytes[0][0], 1 << HEADER_ARITY_OFFS | POS_BIG_SUBTAG);
    assert_int_equal(match.bytes[0][1], UINT64_C(576460752303423488));
    assert_int_equal(match.bytes[1][0], 1 << HEADER_ARITY_OFFS | NEG_BIG_SUBTAG);
    assert_int_equal(match.bytes[1][1], UINT64_C(576460752303423489));
    assert_int_equal(match.bytes[2][0], 1 << HEADER_ARITY_OFFS | FLOAT_SUBTAG);
    assert_int_equal(match.bytes[2][1], UINT64_C(0x3ff8000000000000));
    make("m:f(36#ZZZZZZZZZZZZZZZ)");
    expect_step(0, WIRE_MATCH_NUMBER, 0, 0, 24, 0);
    assert_int_equal(match.bytes[0][1], UINT64_C(0x70f29e2e3fffffff)); /* 36^15 - 1 */
    assert_int_equal(match.bytes[0][2], 11984);
}

static void test_pids(void **state)
{
    (void)state;
    make("m:f(<0.5535.9>)");
    expect_step(0, WIRE_MATCH_EQUAL, 0, 0, 0, (9 << 15 | 5535) << 4 | TAG_IMMED1_PID);
    assert_int_equal(match_pattern_parse("m:f(<0.32768.0>)", &pattern, &error), 0);
    assert_int_equal(call_match_make(&pattern, &fake.names, &match, &error), -1);
    assert_string_equal(error.text, "no pid is <0.32768.0>: no call can match");
    assert_int_equal(match_pattern_parse("m:f(<1.5.0>)", &pattern, &error), -1);
    assert_non_null(strstr(error.text, "a pid of another node"));
}

/* The steps of maps come last. Those of a key are behind that of its pair. */
static void test_maps(void **state)
{
    (void)state;
    make("m:f(#{{ok} := 1, 2 := #{}}, 3)");
    assert_int_equal(match.count, 8);
    expect_step(0, WIRE_MATCH_EQUAL, 1, 0, 0, fake_small(3));
    expect_step(1, WIRE_MATCH_PAIR, 0, 2, 2, 0);
    expect_step(2, WIRE_MATCH_TUPLE, 2, 4, 1, 0);
    expect_step(3, WIRE_MATCH_EQUAL, 4, 0, 0, fake_atom_term(OK));
    expect_step(4, WIRE_MATCH_EQUAL, 3, 0, 0, fake_small(1));
    expect_step(5, WIRE_MATCH_PAIR, 0, 5, 1, 0);
    expect_step(6, WIRE_MATCH_EQUAL, 5, 0, 0, fake_small(2));
    expect_step(7, WIRE_MATCH_MAP, 6, 0, 0, 0);
}

/* A key is one term, which is no map. */
static void test_keys_that_can_not_be_searched(void **state)
{
    static const char *const keys[] = {"_", "X", "{_}", "#{}", "{#{}}", "<<1, _/binary>>"};
    char text[100];

    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        snprintf(text, sizeof(text), "m:f(#{%s := 1})", keys[i]);
        assert_int_equal(match_pattern_parse(text, &pattern, &error), -1);
        assert_non_null(strstr(error.text, "on: leave out this key"));
    }
    assert_int_equal(match_pattern_parse("m:f(#{\"text\" := 1})", &pattern, &error), 0);
    assert_int_equal(call_match_make(&pattern, &fake.names, &match, &error), -1);
    assert_non_null(
        strstr(error.text,
               "a key of a map in the pattern of m:f has more than 8 parts: leave out this key"));
}

/* True if the pattern is refused, and nothing behind its end is read: there are exclamation marks.
 */
static bool is_refused(const char *text)
{
    char marked[80];
    size_t size = strlen(text) + 1;

    assert_true(size < sizeof(marked));
    memset(marked, '!', sizeof(marked));
    memcpy(marked, text, size);
    marked[sizeof(marked) - 1] = '\0';
    return match_pattern_parse(marked, &pattern, &error) && !strchr(error.text, '!');
}

/* What is no pattern is refused, however it ends. */
static void test_what_is_no_pattern(void **state)
{
    static const char *const texts[] = {
        "",
        "(",
        "m:f",
        "m:f(",
        "m:f(a",
        "m:f(a,",
        "m:f(a,)",
        "m:f({a)",
        "m:f([a|b)",
        "m:f([|b])",
        "m:f(\"a)",
        "m:f(\"a\" ++)",
        "m:f(\"a\" + _)",
        "m:f([1] ++ _)",
        "m:f(\"\\",
        "m:f('a)",
        "m:f('a",
        "m:f(a, '",
        "m:f(<<)",
        "m:f(<<\"a)",
        "m:f(<<1,)",
        "m:f(<<1>)",
        "m:f(<<\"\\",
        "m:f($",
        "m:f(-)",
        "m:f(1a)",
        "m:f(37#1)",
        "m:f(a)b",
        "m:f(<<256>>)",
        "m:f(<<_/binary, 1>>)",
        "m:f(#{)",
        "m:f(#{a)",
        "m:f(#{a => 1})",
        "m:f(#{a := })",
        "m:f(#{a := 1)",
        "m:f(<0.1>)",
        "m:f(<0.1.2)",
        "m:f(1.5e)",
        "m:f(1.0e999)",
        "m:f(1.5x)",
        "m:f(1#0)",
        "m:f/1(a)",
        "_:f(a)",
        "m:f('\\x41')",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (!is_refused(texts[i]))
            fail_msg("'%s' was taken, or read beyond its end: %s", texts[i], error.text);
}

/* Patterns that are too large for the kernel are refused. */
static void test_large_patterns(void **state)
{
    char text[1000] = "m:f(";

    (void)state;
    for (int i = 0; i < 70; i++)
        strcat(text, "{");
    assert_int_equal(match_pattern_parse(text, &pattern, &error), -1);
    snprintf(text, sizeof(text), "m:f(\"%0300d\")", 0);
    assert_int_equal(match_pattern_parse(text, &pattern, &error), -1);
    snprintf(text, sizeof(text), "m:f(\"%080d\")", 0);
    assert_int_equal(match_pattern_parse(text, &pattern, &error), 0);
    assert_int_equal(call_match_make(&pattern, &fake.names, &match, &error), -1);
    snprintf(text, sizeof(text), "m:f(<<\"%0249d\">>)", 0);
    assert_int_equal(match_pattern_parse(text, &pattern, &error), -1);
    snprintf(text, sizeof(text), "m:f(1%0600d)", 0);
    assert_int_equal(match_pattern_parse(text, &pattern, &error), -1);
    strcpy(text, "m:f(1");
    for (int i = 1; i < 33; i++)
        strcat(text, ",1");
    strcat(text, ")");
    assert_int_equal(match_pattern_parse(text, &pattern, &error), -1);
}

static void test_atoms_that_the_vm_does_not_have(void **state)
{
    (void)state;
    assert_int_equal(match_pattern_parse("m:f(never)", &pattern, &error), 0);
    assert_int_equal(call_match_make(&pattern, &fake.names, &match, &error), -1);
    assert_string_equal(error.text, "the VM has no atom 'never': no call can match");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_strings_are_lists),
        cmocka_unit_test(test_tails_of_strings),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_variables_that_occur_twice),
        cmocka_unit_test(test_parts_that_can_not_be_compared),
        cmocka_unit_test(test_binaries),
        cmocka_unit_test(test_integers_that_are_small_terms),
        cmocka_unit_test(test_numbers_that_are_objects),
        cmocka_unit_test(test_pids),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_keys_that_can_not_be_searched),
        cmocka_unit_test(test_what_is_no_pattern),
        cmocka_unit_test(test_large_patterns),
        cmocka_unit_test(test_atoms_that_the_vm_does_not_have),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
