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
#include "fake_target.h"

static const char *const atom_names[] = {"false", "ok", "it's"};
enum { OK = 1, ITS = 2 };

static struct fake_target *target;
static struct vm vm;
static struct atoms *atoms;
static struct match_pattern pattern;
static struct wire_match match;
static struct error error;

static int start(void **state)
{
    (void)state;
    target = fake_target_new();
    atoms = fake_vm_with_atoms(target, &vm, 25, atom_names, 3);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    atoms_free(atoms);
    free(target);
    return 0;
}

static void make(const char *text)
{
    assert_int_equal(match_pattern_parse(text, &pattern, &error), 0);
    assert_int_equal(call_match_make(&pattern, atoms, &match, &error), 0);
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

/* Characters are bytes, or UTF-8 with "/utf8". */
static void test_binaries(void **state)
{
    (void)state;
    make("m:f(<<\"\xc3\xa9\", 1>>, <<\"\xc3\xa9\"/utf8, _/binary>>, <<>>)");
    assert_int_equal(match.count, 3);
    expect_step(0, WIRE_MATCH_BINARY, 0, 0, 2, 0);
    expect_step(1, WIRE_MATCH_PREFIX, 1, 0, 2, 1);
    expect_step(2, WIRE_MATCH_BINARY, 2, 0, 0, 2);
    assert_int_equal(match.binaries[0][0], 0x01e9);
    assert_int_equal(match.binaries[1][0], 0xa9c3);
}

static void test_integers_that_are_small_terms(void **state)
{
    (void)state;
    make("m:f(576460752303423487, -576460752303423488)");
    expect_step(0, WIRE_MATCH_EQUAL, 0, 0, 0, fake_small(INT64_C(576460752303423487)));
    expect_step(1, WIRE_MATCH_EQUAL, 1, 0, 0, fake_small(INT64_C(-576460752303423488)));
    assert_int_equal(match_pattern_parse("m:f(576460752303423488)", &pattern, &error), -1);
    assert_non_null(strstr(error.text, "an integer of more than 60 bits"));
}

/* What is no pattern is refused, however it ends. */
static void test_what_is_no_pattern(void **state)
{
    static const char *const texts[] = {
        "",          "(",         "m:f",          "m:f(",         "m:f(a",
        "m:f(a,",    "m:f(a,)",   "m:f({a)",      "m:f([a|b)",    "m:f([|b])",
        "m:f(\"a)",  "m:f(\"\\",  "m:f('a)",      "m:f(<<)",      "m:f(<<\"a)",
        "m:f(<<1,)", "m:f(<<1>)", "m:f(<<\"\\",   "m:f($",        "m:f(-)",
        "m:f(1a)",   "m:f(37#1)", "m:f(a)b",      "m:f(<<256>>)", "m:f(<<_/binary, 1>>)",
        "m:f/1(a)",  "_:f(a)",    "m:f('\\x41')",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (!match_pattern_parse(texts[i], &pattern, &error))
            fail_msg("'%s' was taken", texts[i]);
}

/* Patterns that are too large for the kernel are refused. */
static void test_large_patterns(void **state)
{
    char text[1000] = "m:f(";

    (void)state;
    for (int i = 0; i < 70; i++)
        strcat(text, "{");
    assert_int_equal(match_pattern_parse(text, &pattern, &error), -1);
    snprintf(text, sizeof(text), "m:f(\"%0200d\")", 0);
    assert_int_equal(match_pattern_parse(text, &pattern, &error), -1);
    snprintf(text, sizeof(text), "m:f(\"%040d\")", 0);
    assert_int_equal(match_pattern_parse(text, &pattern, &error), 0);
    assert_int_equal(call_match_make(&pattern, atoms, &match, &error), -1);
    snprintf(text, sizeof(text), "m:f(<<\"%065d\">>)", 0);
    assert_int_equal(match_pattern_parse(text, &pattern, &error), -1);
    assert_int_equal(
        match_pattern_parse("m:f(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)", &pattern, &error),
        -1);
}

static void test_atoms_that_the_vm_does_not_have(void **state)
{
    (void)state;
    assert_int_equal(match_pattern_parse("m:f(never)", &pattern, &error), 0);
    assert_int_equal(call_match_make(&pattern, atoms, &match, &error), -1);
    assert_string_equal(error.text, "the VM has no atom 'never': no call can match");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_strings_are_lists),
        cmocka_unit_test(test_binaries),
        cmocka_unit_test(test_integers_that_are_small_terms),
        cmocka_unit_test(test_what_is_no_pattern),
        cmocka_unit_test(test_large_patterns),
        cmocka_unit_test(test_atoms_that_the_vm_does_not_have),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
