// SPDX-License-Identifier: Apache-2.0
/* The text report: the summary, and functions with their callers and callees. */
#include "small_output.h"

/* Check the text behind the summary. */
static void assert_report(struct small_profile *small, const struct output_settings *settings,
                          const char *expected)
{
    char *text = small_output_of(small, &text_format, settings), *start;

    assert_non_null(strstr(text, "\ntarget    "));
    start = strstr(text, "\nfunctions of ");
    assert_non_null(start);
    assert_string_equal(start, expected);
    free(text);
}

/* The costs of functions, divided among callers, callees and the function itself. */
static void test_costs_are_divided_among_callers_and_callees(void **state)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}};
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    assert_report(&small, &settings,
                  "\nfunctions of cpu by time, of 40.0 ms\n"
                  "           with callees                    self  function\n"
                  "        30.0 ms  75.0 %           0 ns   0.0 %  cart\n"
                  "        30.0 ms  75.0 %           0 ns   0.0 %  proc_lib:init_p/5\n"
                  "        20.0 ms  50.0 %        20.0 ms  50.0 %  erlang:+/2\n"
                  "        10.0 ms  25.0 %           0 ns   0.0 %  memcpy\n"
                  "        10.0 ms  25.0 %        10.0 ms  25.0 %  do_syscall_64\n"
                  "        10.0 ms  25.0 %           0 ns   0.0 %  [scheduler] busy-wait\n"
                  "        10.0 ms  25.0 %        10.0 ms  25.0 %  spin\n"
                  "\ncart: 30.0 ms, 75.0 %\n"
                  "  calls\n        30.0 ms 100.0 %  proc_lib:init_p/5\n"
                  "\nproc_lib:init_p/5: 30.0 ms, 75.0 %\n"
                  "  called by\n        30.0 ms 100.0 %  cart\n"
                  "  calls\n        20.0 ms  66.7 %  erlang:+/2\n"
                  "        10.0 ms  33.3 %  memcpy\n"
                  "\nerlang:+/2: 20.0 ms, 50.0 %\n"
                  "  called by\n        20.0 ms 100.0 %  proc_lib:init_p/5\n"
                  "  self\n        20.0 ms 100.0 %\n"
                  "\nmemcpy: 10.0 ms, 25.0 %\n"
                  "  called by\n        10.0 ms 100.0 %  proc_lib:init_p/5\n"
                  "  calls\n        10.0 ms 100.0 %  do_syscall_64\n"
                  "\ndo_syscall_64: 10.0 ms, 25.0 %\n"
                  "  called by\n        10.0 ms 100.0 %  memcpy\n"
                  "  self\n        10.0 ms 100.0 %\n"
                  "\n[scheduler] busy-wait: 10.0 ms, 25.0 %\n"
                  "  calls\n        10.0 ms 100.0 %  spin\n"
                  "\nspin: 10.0 ms, 25.0 %\n"
                  "  called by\n        10.0 ms 100.0 %  [scheduler] busy-wait\n"
                  "  self\n        10.0 ms 100.0 %\n");
}

/* A stack counts once for a function that is in it several times, on any lines; functions below
 * half a percent are only counted. */
static void test_stack_counts_once_for_a_recursive_function(void **state)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NONE}}};
    struct small_profile small;
    stack_id stack = 0;

    (void)state;
    small_profile_make(&small);
    for (uint32_t i = 0; i < 3; i++)
        stack = small_call(small.profile, stack, "a:f/1", 10 + i);
    small.samples[2] = small.samples[0];
    for (int i = 0; i < SMALL_SAMPLES; i++) {
        small.samples[i].time = 2000000000u + (uint64_t)i;
        small.samples[i].stack = stack;
    }
    small.samples[3].values[0] = 100;
    small.samples[3].stack = small_call(small.profile, stack, "a:g/0", 1);
    assert_report(&small, &settings,
                  "\nfunctions of cpu by time, of 30.0 ms\n"
                  "           with callees                    self  function\n"
                  "        30.0 ms 100.0 %        30.0 ms 100.0 %  a:f/1\n"
                  "  1 more, each less than 0.5 %\n"
                  "\na:f/1: 30.0 ms, 100.0 %\n"
                  "  called by\n        30.0 ms 100.0 %  a:f/1\n"
                  "  calls\n        30.0 ms 100.0 %  a:f/1\n"
                  "    1 more, each less than 0.5 %\n"
                  "  self\n        30.0 ms 100.0 %\n");
}

/* The text has a part for each event with samples, or for the selected event and value. */
static void test_text_has_a_part_for_each_event(void **state)
{
    struct output_settings settings = {.view.grouping = {{GROUP_NONE}}};
    struct small_profile small;
    char *text;

    (void)state;
    small_profile_make(&small);
    small_profile_add_events(&small);
    text = small_output_of(&small, &text_format, &settings);
    assert_non_null(strstr(text, "\nfunctions of cpu by time, of 20.0 ms\n"));
    assert_non_null(strstr(text, "\nfunctions of gc by time, of 4.58 ms +- 0.20 ms\n"));
    assert_null(strstr(text, "\nfunctions of bif:"));
    free(text);
    small_profile_make(&small);
    small_profile_add_events(&small);
    settings.event = "gc";
    settings.value = "reclaimed";
    text = small_output_of(&small, &text_format, &settings);
    assert_null(strstr(text, "\nfunctions of cpu"));
    assert_non_null(strstr(text, "\nfunctions of gc by reclaimed, of 1,000 words\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs_are_divided_among_callers_and_callees),
        cmocka_unit_test(test_stack_counts_once_for_a_recursive_function),
        cmocka_unit_test(test_text_has_a_part_for_each_event),
    };

    return cmocka_run_group_tests_name("output_text", tests, NULL, NULL);
}
