// SPDX-License-Identifier: Apache-2.0
#include "small_output.h"

#include "output/stack_lines.h"
#include "profile/events.h"

/* One line per stack, root first, sorted, with its count. */
static void test_each_stack_is_one_sorted_line_with_its_count(void **state)
{
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    assert_output(&small, &folded_format,
                  "[scheduler] busy-wait;spin 1\n"
                  "cart;proc_lib:init_p/5;erlang:+/2 2\n"
                  "cart;proc_lib:init_p/5;memcpy;do_syscall_64 1\n");
}

/* Samples of a node that is half idle stand for less than a period each. Lines add up to the total,
 * rounded. */
static void test_lines_of_fractions_of_a_period_add_up_to_the_total(void **state)
{
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    for (int i = 0; i < SMALL_SAMPLES; i++)
        small.samples[i].values[CPU_TIME] = 6000000;
    /* In periods: 0.6, 1.2 and 0.6; their sums are 0.6, 1.8 and 2.4. */
    assert_output(&small, &folded_format,
                  "[scheduler] busy-wait;spin 1\n"
                  "cart;proc_lib:init_p/5;erlang:+/2 1\n");
}

/* A stack of less than half a period is not lost if there is no other. */
static void test_few_fractions_of_a_period_have_a_line(void **state)
{
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    for (int i = 0; i < SMALL_SAMPLES; i++)
        small.samples[i].values[CPU_TIME] = 1000;
    assert_output(&small, &folded_format, "[scheduler] busy-wait;spin 1\n");
}

/* A separator in a symbol does not split it; stacks that differ only in addresses are one. */
static void test_separators_are_escaped_and_equal_stacks_merged(void **state)
{
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    for (uint64_t i = 0; i < SMALL_SAMPLES; i++)
        small.samples[i].stack = profile_stack(
            small.profile, 0,
            small_frame(small.profile, i == 3 ? "a;b%" : "a b 7", "", FRAME_ERLANG, i));
    assert_output(&small, &folded_format,
                  "[scheduler] busy-wait;a b 7 1\n"
                  "cart;a b 7 2\n"
                  "cart;a%3Bb%25 1\n");
}

struct seen {
    char *lines[2000];
    uint64_t sums[2000];
    size_t count;
};

static void see(void *context, const char *line, const uint64_t sums[2])
{
    struct seen *seen = context;

    seen->sums[seen->count] = sums[0];
    seen->lines[seen->count++] = strdup(line);
    assert_int_equal(sums[1], 2 * sums[0]);
}

/* Random stacks of texts that begin alike, some with bytes below and above ';', come out as lines
 * in the order of strcmp(), each once, with the sum of its stacks. */
static void test_lines_are_in_the_order_of_their_bytes(void **state)
{
    static const char *const texts[] = {"a", "a-b", "a~", "a b", "aa", ";", "# x", "#x", "%", ":"};
    enum { STACKS = 2000 };
    struct stack_lines lines;
    struct seen seen = {.count = 0};
    uint64_t total = 0;

    (void)state;
    stack_lines_init(&lines);
    srand(1);
    for (int i = 0; i < STACKS; i++) {
        struct view_frame frames[5] = {{0}};
        size_t count = (size_t)rand() % 6;

        for (size_t at = 0; at < count; at++)
            frames[at].text = texts[(size_t)rand() % (sizeof(texts) / sizeof(texts[0]))];
        stack_lines_add(&lines, frames, count, (uint64_t[2]){1, 2});
    }
    stack_lines_each(&lines, see, &seen);
    assert_true(seen.count > 500 && seen.count < STACKS);
    for (size_t i = 0; i < seen.count; i++) {
        total += seen.sums[i];
        if (i)
            assert_true(strcmp(seen.lines[i - 1], seen.lines[i]) < 0);
    }
    assert_int_equal(total, STACKS);
    for (size_t i = 0; i < seen.count; i++)
        free(seen.lines[i]);
    stack_lines_free(&lines);
}

static void see_cut(void *context, const char *line, const uint64_t sums[2])
{
    const char *mark = strstr(line, "...");

    (void)context;
    (void)sums;
    assert_non_null(mark);
    assert_int_equal(strlen(mark), 3);
    assert_in_range(mark - line, 16000, 16384);
    assert_memory_equal(mark - 3, "%3B", 3);
}

/* A name that becomes too long by its escapes ends with a whole one, wherever the first begins. */
static void test_long_names_are_cut_between_escapes(void **state)
{
    static char text[6000];

    (void)state;
    memset(text, ';', sizeof(text) - 1);
    for (int letters = 0; letters < 3; letters++) {
        struct stack_lines lines;
        struct view_frame frame = {.text = text};

        stack_lines_init(&lines);
        memset(text, 'a', (size_t)letters);
        stack_lines_add(&lines, &frame, 1, (uint64_t[2]){1, 2});
        stack_lines_each(&lines, see_cut, NULL);
        stack_lines_free(&lines);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_stack_is_one_sorted_line_with_its_count),
        cmocka_unit_test(test_lines_of_fractions_of_a_period_add_up_to_the_total),
        cmocka_unit_test(test_few_fractions_of_a_period_have_a_line),
        cmocka_unit_test(test_separators_are_escaped_and_equal_stacks_merged),
        cmocka_unit_test(test_lines_are_in_the_order_of_their_bytes),
        cmocka_unit_test(test_long_names_are_cut_between_escapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
