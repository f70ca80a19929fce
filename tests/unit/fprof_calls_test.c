// SPDX-License-Identifier: Apache-2.0
/* Costs of functions and of their calls, as fprof adds them up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "output/fprof/fprof_calls.h"

static const char *const letters[] = {"a", "b", "c", "G", "N"};

static struct fprof_calls calls;

static int start(void **state)
{
    (void)state;
    fprof_calls_init(&calls);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fprof_calls_free(&calls);
    return 0;
}

static const char *text(char letter)
{
    size_t i = 0;

    while (*letters[i] != letter)
        i++;
    return letters[i];
}

static uint32_t number(char letter)
{
    const char *name = text(letter);

    return intern_find(&calls.functions, &name);
}

/* Add a stack of "abc", root first. A name in capitals is native. */
static bool add_stack(process_id process, const char *names, enum fprof_kind kind, uint64_t cost)
{
    struct view_frame frames[8] = {{.text = "process", .kind = FRAME_MARK}};
    struct fprof_stack stack = {.process = process, .frames = frames, .count = 1, .kind = kind};

    for (; *names; names++)
        frames[stack.count++] = (struct view_frame){
            .text = text(*names), .kind = *names <= 'Z' ? FRAME_NATIVE : FRAME_ERLANG};
    return fprof_calls_add(&calls, &stack, 1, cost);
}

static void add(process_id process, const char *names, enum fprof_kind kind, uint64_t cost)
{
    assert_true(add_stack(process, names, kind, cost));
}

static void assert_cost(const struct fprof_cost *cost, uint64_t samples, uint64_t acc, uint64_t own)
{
    assert_int_equal(cost->samples, samples);
    assert_int_equal(cost->acc, acc);
    assert_int_equal(cost->own, own);
}

static void assert_pair(uint32_t caller, uint32_t callee, uint64_t samples, uint64_t acc,
                        uint64_t own)
{
    uint32_t id = intern_find(&calls.pairs, &(struct fprof_pair){1, caller, callee});

    assert_int_not_equal(id, 0);
    assert_cost(&calls.costs[id], samples, acc, own);
}

static void test_callees_count_for_their_callers(void **state)
{
    (void)state;
    add(1, "abc", FPROF_OWN, 5);
    add(1, "ab", FPROF_OWN, 7);
    add(1, "acN", FPROF_OWN, 11); /* native code belongs to c */
    assert_pair(FPROF_UNDEFINED, number('a'), 3, 23, 0);
    assert_pair(number('a'), number('b'), 2, 12, 7);
    assert_pair(number('b'), number('c'), 1, 5, 5);
    assert_pair(number('a'), number('c'), 1, 11, 11);
    assert_int_equal(calls.pairs.count, 4);
}

/* A recursive call is the return to the first one: each stack counts once. */
static void test_recursion_counts_once(void **state)
{
    (void)state;
    add(1, "abbb", FPROF_OWN, 5);
    add(1, "abcb", FPROF_OWN, 7);
    add(1, "abcac", FPROF_OWN, 11);
    assert_pair(FPROF_UNDEFINED, number('a'), 3, 23, 0);
    assert_pair(number('a'), number('b'), 2, 12, 12);
    assert_pair(number('a'), number('c'), 1, 11, 11);
    assert_int_equal(calls.pairs.count, 3);
}

static void test_time_off_and_in_collections_has_pseudo_functions(void **state)
{
    (void)state;
    add(1, "ab", FPROF_OFF, 5);
    add(1, "abG", FPROF_GC, 7);
    assert_pair(FPROF_UNDEFINED, number('a'), 2, 12, 0);
    assert_pair(number('a'), number('b'), 2, 12, 0);
    assert_pair(number('b'), FPROF_SUSPEND, 1, 5, 0);
    assert_pair(number('b'), FPROF_COLLECT, 1, 7, 7);
}

static void test_stack_without_erlang_functions_is_refused(void **state)
{
    (void)state;
    assert_false(add_stack(1, "NG", FPROF_OWN, 5));
    assert_false(add_stack(1, "", FPROF_OFF, 5));
    assert_int_equal(calls.pairs.count, 0);
}

/* Processes by own cost; functions by cost with callees; callers and called functions too. */
static void test_sections_are_sorted_by_cost(void **state)
{
    struct fprof_section *sections;
    const struct fprof_function *functions;
    size_t count, first;

    (void)state;
    add(7, "a", FPROF_OWN, 1);
    add(3, "ab", FPROF_OWN, 2);
    add(3, "ac", FPROF_OWN, 5);
    add(3, "cb", FPROF_OWN, 4);
    fprof_calls_sort(&calls);
    sections = fprof_calls_sections(&calls, &count);
    assert_int_equal(count, 2);
    assert_int_equal(sections[0].process, 3);
    assert_cost(&sections[0].cost, 6, 22, 11);
    assert_int_equal(sections[1].process, 7);
    functions = sections[0].functions;
    assert_int_equal(sections[0].count, 3);
    assert_int_equal(functions[0].number, number('c'));
    assert_cost(&functions[0].cost, 2, 9, 5);
    assert_int_equal(functions[0].count, 2);
    assert_int_equal(fprof_pair_get(&calls, calls.by_callee[functions[0].first])->caller,
                     number('a'));
    assert_int_equal(functions[1].number, number('a'));
    assert_int_equal(functions[2].number, number('b'));
    assert_int_equal(fprof_section_called(&calls, &sections[0], number('a'), &first), 2);
    assert_int_equal(fprof_pair_get(&calls, calls.by_caller[first])->callee, number('c'));
    assert_int_equal(fprof_section_called(&calls, &sections[0], number('b'), &first), 0);
    assert_int_equal(fprof_section_called(&calls, &sections[1], number('a'), &first), 0);
    fprof_sections_free(sections, count);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(test_callees_count_for_their_callers),
        TEST(test_recursion_counts_once),
        TEST(test_time_off_and_in_collections_has_pseudo_functions),
        TEST(test_stack_without_erlang_functions_is_refused),
        TEST(test_sections_are_sorted_by_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
