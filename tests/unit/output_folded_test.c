// SPDX-License-Identifier: Apache-2.0
#include "small_output.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_stack_is_one_sorted_line_with_its_count),
        cmocka_unit_test(test_separators_are_escaped_and_equal_stacks_merged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
