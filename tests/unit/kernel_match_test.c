// SPDX-License-Identifier: Apache-2.0
/* Patterns against terms, as the kernel compares them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "calls/call_match.h"
#include "fake_names.h"
#include "kernel_match.h"

static const char *const atom_names[] = {"false", "ok", "key"};
enum { OK = 1, KEY = 2 };
enum { NIL = 0x3b, FLOAT_HEADER = 1 << 6 | 0x18, BIG_HEADER = 0x8, NEGATIVE_HEADER = 0xc };
enum { FLAT = 1 << 8, HEAD = 0x80 | FLAT, NODE = 0x40 }; /* of a map's header, without its tag */
enum { MAP_25 = 0x3c, MAP_27 = 0x2c };

static struct fake_names fake;

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

/* Match the pattern "m:f(ARGUMENT)" with this term. */
static enum match_result result_of(const char *argument, uint64_t term, bool in_bits)
{
    static struct match_pattern pattern;
    uint64_t arguments = FAKE_WORDS(fake.target, term);
    struct error error;
    char text[1000];

    snprintf(text, sizeof(text), "m:f(%s)", argument);
    if (match_pattern_parse(text, &pattern, &error) ||
        call_match_make(&pattern, &fake.names, &kernel_pattern, &error))
        fail_msg("%s: %s", text, error.text);
    return kernel_match(fake.target, in_bits, arguments, 1);
}

#define EXPECT(argument, term, result)    assert_int_equal(result_of(argument, term, false), result)
#define EXPECT_27(argument, term, result) assert_int_equal(result_of(argument, term, true), result)

static uint64_t put_float(double value)
{
    uint64_t word;

    memcpy(&word, &value, sizeof(word));
    return FAKE_WORDS(fake.target, FLOAT_HEADER, word) | 2;
}

static void test_floats(void **state)
{
    (void)state;
    EXPECT("1.5", put_float(1.5), MATCH_YES);
    EXPECT("-1.5e-3", put_float(-1.5e-3), MATCH_YES);
    EXPECT("1.5", put_float(1.25), MATCH_NO);
    EXPECT("0.0", put_float(-0.0), MATCH_NO);
    EXPECT("1.0", fake_small(1), MATCH_NO);
    EXPECT("1", put_float(1), MATCH_NO);
    EXPECT("1.5", FAKE_TUPLE(fake.target, 1, fake_small(1)), MATCH_NO);
    EXPECT("1.5", 0x7ffffffffff2, MATCH_UNKNOWN);
}

/* Digits of 64 bits follow the header, the lowest first. */
static void test_large_integers(void **state)
{
    const uint64_t one = (uint64_t)1 << 63;
    uint64_t big = FAKE_WORDS(fake.target, 1 << 6 | BIG_HEADER, one) | 2;
    uint64_t negative = FAKE_WORDS(fake.target, 1 << 6 | NEGATIVE_HEADER, one) | 2;
    uint64_t larger = FAKE_WORDS(fake.target, 2 << 6 | BIG_HEADER, 5, 1) | 2;

    (void)state;
    EXPECT("9223372036854775808", big, MATCH_YES);
    EXPECT("16#8000000000000000", big, MATCH_YES);
    EXPECT("9223372036854775809", big, MATCH_NO);
    EXPECT("-9223372036854775808", negative, MATCH_YES);
    EXPECT("9223372036854775808", negative, MATCH_NO);
    EXPECT("18446744073709551621", larger, MATCH_YES);
    EXPECT("18446744073709551621", big, MATCH_NO);
    EXPECT("9223372036854775808", put_float(9223372036854775808.0), MATCH_NO);
}

static void test_pids(void **state)
{
    uint64_t pid = (uint64_t)0 << 32 | (9 << 15 | 5535) << 4 | 3;

    (void)state;
    EXPECT("<0.5535.9>", pid, MATCH_YES);
    EXPECT("<0.5535.8>", pid, MATCH_NO);
    EXPECT("{<0.5535.9>}", FAKE_TUPLE(fake.target, 1, pid), MATCH_YES);
}

/* A map that is no tree: `keys` is a tuple. */
#define FLAT_MAP(tag, keys, size, ...)                                                             \
    (FAKE_WORDS(fake.target, FLAT | (tag), size, keys, __VA_ARGS__) | 2)

static void test_maps(void **state)
{
    uint64_t pair = FAKE_TUPLE(fake.target, 2, fake_small(1), put_float(1.5));
    uint64_t keys = FAKE_TUPLE(fake.target, 3, fake_atom_term(OK), pair, put_float(2.5));
    uint64_t inner =
        FLAT_MAP(MAP_25, FAKE_TUPLE(fake.target, 1, fake_atom_term(KEY)), 1, fake_small(9));
    uint64_t map = FLAT_MAP(MAP_25, keys, 3, fake_small(7), inner, NIL);
    uint64_t of_27 = FLAT_MAP(MAP_27, keys, 3, fake_small(7), inner, NIL);

    (void)state;
    EXPECT("#{}", map, MATCH_YES);
    EXPECT("#{ok := 7}", map, MATCH_YES);
    EXPECT("#{ok := 8}", map, MATCH_NO);
    EXPECT("#{key := _}", map, MATCH_NO);
    EXPECT("#{2.5 := [], ok := _}", map, MATCH_YES);
    EXPECT("#{{1, 1.5} := #{key := 9}}", map, MATCH_YES);
    EXPECT("#{{1, 2.5} := _}", map, MATCH_NO);
    EXPECT("#{{1, 1.5} := #{ok := _}}", map, MATCH_NO);
    EXPECT("#{}", of_27, MATCH_NO);
    EXPECT_27("#{ok := 7}", of_27, MATCH_YES);
    EXPECT_27("#{}", map, MATCH_NO);
    EXPECT("#{}", NIL, MATCH_NO);
    EXPECT("#{}", pair, MATCH_NO);
}

/* A node of a tree with these children: maps have a bit for each. */
static uint64_t put_node(uint64_t header, uint64_t size, const uint64_t *children, size_t count)
{
    uint64_t words[18] = {header | MAP_25 | (((uint64_t)1 << count) - 1) << 16, size};
    size_t first = header == HEAD ? 2 : 1;

    memcpy(words + first, children, count * sizeof(*children));
    return fake_words(fake.target, words, first + count) | 2;
}

/* Put a tree of pairs {N, ok} below `depth` levels of nodes of 16. */
static uint64_t put_tree(int depth, int64_t *number)
{
    uint64_t children[16];

    for (size_t i = 0; i < 16; i++)
        children[i] = depth ? put_tree(depth - 1, number)
                            : fake_cons(fake.target, fake_small((*number)++), fake_atom_term(OK));
    return put_node(NODE, 0, children, 16);
}

static void test_trees(void **state)
{
    int64_t number = 0;
    uint64_t same = FAKE_TUPLE(fake.target, 2, fake_cons(fake.target, fake_small(1000), NIL),
                               fake_cons(fake.target, fake_small(1001), fake_small(5)));
    uint64_t children[] = {same, put_tree(1, &number)};
    uint64_t map = put_node(HEAD, 258, children, 2);

    (void)state;
    EXPECT("#{0 := ok, 255 := ok}", map, MATCH_YES);
    EXPECT("#{256 := _}", map, MATCH_NO);
    EXPECT("#{1001 := 5, 1000 := []}", map, MATCH_YES);
    EXPECT("#{1001 := 6}", map, MATCH_NO);
}

/* In a tree that is too large, the key may be in the part that was not searched. */
static void test_trees_that_are_too_large(void **state)
{
    int64_t number = 0;
    uint64_t children[] = {put_tree(2, &number)}, map = put_node(HEAD, 4096, children, 1);

    (void)state;
    EXPECT("#{4095 := ok}", map, MATCH_YES); /* the last child is looked at first */
    EXPECT("#{0 := ok}", map, MATCH_UNKNOWN);
    EXPECT("#{5000 := _}", map, MATCH_UNKNOWN);
    EXPECT("{1, #{5000 := _}}", FAKE_TUPLE(fake.target, 2, fake_small(2), map), MATCH_NO);
    EXPECT("{#{5000 := _}, 1}", FAKE_TUPLE(fake.target, 2, map, fake_small(2)), MATCH_NO);
}

/* The limit is of all trees of a call, and the time of each search is counted. */
static void test_several_trees(void **state)
{
    int64_t number = 0;
    uint64_t tree[] = {put_tree(1, &number)}, small = put_node(HEAD, 256, tree, 1);
    uint64_t children[3], three;
    __u64 before;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        int64_t own = 0;

        children[i] = put_tree(1, &own);
    }
    three = put_node(HEAD, 768, children, 3);
    EXPECT("#{1000 := _}", three, MATCH_NO);
    before = kernel_search_ns;
    EXPECT("{#{0 := ok}, #{1000 := _}}", FAKE_TUPLE(fake.target, 2, small, three), MATCH_UNKNOWN);
    assert_int_equal(kernel_search_ns - before, 2);
}

/* A tree of nodes that lead to themselves has an end. */
static void test_damaged_maps(void **state)
{
    uint64_t room = fake_room(fake.target, 4 * sizeof(uint64_t)), loop = room | 2;
    uint64_t map = FLAT_MAP(MAP_25, NIL, 40, NIL);

    (void)state;
    fake_put_u64(fake.target, room, HEAD | MAP_25 | 3 << 16);
    fake_put_u64(fake.target, room + 16, loop);
    fake_put_u64(fake.target, room + 24, loop);
    EXPECT("#{1 := _}", loop, MATCH_UNKNOWN);
    EXPECT("#{1 := _}", map, MATCH_UNKNOWN);
    EXPECT("#{1 := _}", FAKE_WORDS(fake.target, HEAD | MAP_25, 0) | 2, MATCH_UNKNOWN);
}

static void test_long_binaries(void **state)
{
    uint64_t binary = fake_room(fake.target, 200);
    char text[300];

    (void)state;
    fake_put_u64(fake.target, binary, 0x24); /* ErlHeapBin */
    fake_put_u64(fake.target, binary + 8, 150);
    memset(fake.target->bytes + (binary - FAKE_BASE) + 16, 'x', 150);
    snprintf(text, sizeof(text), "<<\"%0150d\">>", 0);
    EXPECT(text, binary | 2, MATCH_NO);
    memset(strchr(text, '0'), 'x', 150);
    EXPECT(text, binary | 2, MATCH_YES);
    fake_put(fake.target, binary + 16 + 149, "y", 1);
    EXPECT(text, binary | 2, MATCH_NO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floats),        cmocka_unit_test(test_large_integers),
        cmocka_unit_test(test_pids),          cmocka_unit_test(test_maps),
        cmocka_unit_test(test_trees),         cmocka_unit_test(test_trees_that_are_too_large),
        cmocka_unit_test(test_several_trees), cmocka_unit_test(test_damaged_maps),
        cmocka_unit_test(test_long_binaries),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
