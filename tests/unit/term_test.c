// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "beam/process_info.h"
#include "fake_target.h"

static const char *const names[] = {"false", "true", "pool", "Big", "end"};
enum { FALSE, TRUE, POOL, BIG, END };

static struct fake_target *target;
static struct vm vm;
static struct atoms *atoms;
static const struct pid_encoding encoding; /* of OTP 25: needs no masks */

static void start(int release)
{
    target = fake_target_new();
    atoms = fake_vm_with_atoms(target, &vm, release, names, 5);
}

static void stop(void)
{
    atoms_free(atoms);
    free(target);
}

static void expect(uint64_t term, const char *expected)
{
    char text[260];

    assert_true(term_format(&vm, atoms, &encoding, term, text, sizeof(text)));
    assert_string_equal(text, expected);
}

static uint64_t string(const char *text, uint64_t tail)
{
    for (size_t i = strlen(text); i-- > 0;)
        tail = fake_cons(target, fake_small((unsigned char)text[i]), tail);
    return tail;
}

static uint64_t boxed_float(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return FAKE_WORDS(target, 0x58, bits) | 2;
}

/* Immediate terms: the word contains the whole term. */
static void test_immediate_terms_are_written(void **state)
{
    (void)state;
    start(25);
    expect(fake_atom_term(POOL), "pool");
    expect(fake_atom_term(BIG), "'Big'");
    expect(fake_atom_term(END), "'end'");
    expect(fake_small(-5), "-5");
    expect(fake_small(576460752303423487), "576460752303423487");
    expect(0x3b, "[]");
    expect((uint64_t)9 << 32 | 85 << 4 | 3, "<0.85.0>");
    stop();
}

/* Lists of characters are shown as strings, all others as lists. */
static void test_only_lists_of_characters_are_strings(void **state)
{
    (void)state;
    start(25);
    expect(string("say \"hi\"\n", 0x3b), "\"say \\\"hi\\\"\\n\"");
    expect(string("ab", fake_cons(target, fake_small(1), 0x3b)), "[97,98,1]");
    expect(fake_cons(target, fake_atom_term(POOL), fake_small(3)), "[pool|3]");
    expect(fake_cons(target, fake_cons(target, fake_atom_term(TRUE), 0x3b), 0x3b), "[[true]]");
    stop();
}

/* Tuples, floats, large integers and references. */
static void test_boxed_terms_are_written(void **state)
{
    (void)state;
    start(25);
    expect(FAKE_TUPLE(target, 2, fake_atom_term(POOL), fake_small(3)), "{pool,3}");
    expect(FAKE_WORDS(target, 0) | 2, "{}");
    expect(boxed_float(1.5), "1.5");
    expect(boxed_float(100.0), "100.0");
    expect(boxed_float(1e10), "1.0e10");
    expect(boxed_float(-1.25e-9), "-1.25e-9");
    expect(boxed_float(0.1), "0.1");
    expect(FAKE_WORDS(target, 1 << 6 | 0x8, UINT64_MAX) | 2, "18446744073709551615");
    expect(FAKE_WORDS(target, 2 << 6 | 0xc, 0, 1) | 2, "-18446744073709551616");
    expect(
        FAKE_WORDS(target, 2 << 6 | 0x10, (uint64_t)7 << 32 | 0xffffffff, (uint64_t)9 << 32 | 8) |
            2,
        "#Ref<0.9.8.7>");
    expect(FAKE_WORDS(target, 0x14) | 2, "#Fun<...>");
    stop();
}

/* Binaries of both families of releases, whole and as sub-binaries. */
static void test_binaries_of_each_release_are_written(void **state)
{
    uint64_t text, data, heap;

    (void)state;
    start(25);
    memcpy(&text, "abc\0\0\0\0", sizeof(text));
    heap = FAKE_WORDS(target, 0x24, 3, text) | 2;
    expect(heap, "<<\"abc\">>");
    data = FAKE_WORDS(target, text);
    expect(FAKE_WORDS(target, 0x20, 3, 0, 0, data, 0) | 2, "<<\"abc\">>");
    expect(FAKE_WORDS(target, 0x28, 2, 1, 0, heap) | 2, "<<\"bc\">>");
    expect(FAKE_WORDS(target, 0x28, 9, 1, 0, heap) | 2, "<<...>>");
    expect(FAKE_WORDS(target, 0x24, 2, 0x0201) | 2, "<<1,2>>");
    expect(FAKE_WORDS(target, 0x24, 2, 0xa5c3) | 2, "<<\"å\"/utf8>>");
    stop();
    start(27);
    expect(FAKE_WORDS(target, 0x20, 24, text) | 2, "<<\"abc\">>");
    data = FAKE_WORDS(target, text);
    expect(FAKE_WORDS(target, 0x24, data | 1, 8, 24, 0) | 2, "<<\"bc\">>");
    expect(FAKE_WORDS(target, 0x20, 23, text) | 2, "<<...>>");
    stop();
}

/* The bytes of a binary that was appended to have moved: the base of the part is an old one. */
static void test_binary_that_has_grown_is_read_where_it_is_now(void **state)
{
    uint64_t text, old, binary, reference;

    (void)state;
    start(27);
    memcpy(&text, "abc\0\0\0\0", sizeof(text));
    old = FAKE_WORDS(target, 0x7a7a7a7a7a7a7a7a);
    binary = FAKE_WORDS(target, 0, 0, 0, 3, text);
    reference = FAKE_WORDS(target, 0x28, binary, 0) | 2;
    expect(FAKE_WORDS(target, 0x24, old | 2, 8, 24, reference) | 2, "<<\"bc\">>");
    expect(FAKE_WORDS(target, 0x24, old | 3, 0, 24, reference) | 2, "<<\"abc\">>");
    expect(FAKE_WORDS(target, 0x24, old | 1, 0, 24, reference) | 2, "<<\"zzz\">>");
    expect(FAKE_WORDS(target, 0x24, old | 2, 0, 24, fake_small(1)) | 2, "<<...>>");
    expect(FAKE_WORDS(target, 0x24, old | 2, 0, 24, old | 2) | 2, "<<...>>");
    vm.layout.binary_orig_size = -1;
    expect(FAKE_WORDS(target, 0x24, old | 2, 8, 24, reference) | 2, "<<...>>");
    stop();
}

/* Small maps, whose header differs from OTP 27 on. */
static void test_small_maps_are_written(void **state)
{
    (void)state;
    for (int release = 26; release <= 27; release++) {
        uint64_t keys, header = release == 26 ? 0x3c : 0x12c;

        start(release);
        keys = FAKE_TUPLE(target, 2, fake_atom_term(TRUE), fake_small(1));
        expect(FAKE_WORDS(target, header, 2, keys, fake_small(7), 0x3b) | 2,
               "#{true => 7,1 => []}");
        expect(FAKE_WORDS(target, header | 3 << 6, 100) | 2, "#{...}");
        stop();
    }
}

/* Cycles, depth and length are limited; omitted parts become "...". */
static void test_cycles_depth_and_length_are_limited(void **state)
{
    uint64_t cell, tuple;
    char text[40];

    (void)state;
    start(25);
    cell = fake_cons(target, fake_small(1), 0);
    fake_put_u64(target, cell + 7, cell);
    assert_true(term_format(&vm, atoms, &encoding, cell, text, sizeof(text)));
    assert_int_equal(strncmp(text, "[1,1,1", 6), 0);
    cell = fake_cons(target, fake_small('x'), 0);
    fake_put_u64(target, cell + 7, cell);
    assert_true(term_format(&vm, atoms, &encoding, cell, text, sizeof(text)));
    assert_int_equal(strlen(text), sizeof(text) - 1);
    tuple = FAKE_TUPLE(target, 1, 0);
    fake_put_u64(target, tuple + 6, tuple);
    expect(tuple, "{{{{{{{{{{{{{...}}}}}}}}}}}}}");
    stop();
}

/* Words that are not terms, and terms that lead to unreadable memory, give no text. */
static void test_unreadable_terms_give_no_text(void **state)
{
    char text[40] = "as it was";

    (void)state;
    start(25);
    assert_false(term_format(&vm, atoms, &encoding, 0x5001, text, sizeof(text)));
    assert_false(term_format(&vm, atoms, &encoding, 0x5002, text, sizeof(text)));
    assert_false(term_format(&vm, atoms, &encoding, 0, text, sizeof(text)));
    assert_false(term_format(&vm, atoms, &encoding, fake_atom_term(99), text, sizeof(text)));
    assert_false(
        term_format(&vm, atoms, &encoding, FAKE_TUPLE(target, 1, 0x5002), text, sizeof(text)));
    assert_string_equal(text, "as it was");
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_immediate_terms_are_written),
        cmocka_unit_test(test_only_lists_of_characters_are_strings),
        cmocka_unit_test(test_boxed_terms_are_written),
        cmocka_unit_test(test_binaries_of_each_release_are_written),
        cmocka_unit_test(test_binary_that_has_grown_is_read_where_it_is_now),
        cmocka_unit_test(test_small_maps_are_written),
        cmocka_unit_test(test_cycles_depth_and_length_are_limited),
        cmocka_unit_test(test_unreadable_terms_give_no_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
