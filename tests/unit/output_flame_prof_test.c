// SPDX-License-Identifier: Apache-2.0
#include "small_output.h"

#include <regex.h>

static const struct view_options no_groups = {.grouping = {{GROUP_NONE}}};

/* Return the text after the comments at its head. */
static char *samples(char *text)
{
    return strstr(text, "\n#\n") + 3;
}

/* The whole file: event lines with status, pid and the known metrics, each with its change since it
 * was last known; stacks as in perf's format. */
static void test_flame_prof_file_is_exact(void **state)
{
    struct small_profile small;
    char *text;

    (void)state;
    small_profile_make(&small);
    text = small_output(&small, &flame_prof_format, &no_groups);
    assert_string_equal(
        samples(text),
        "running\t0.85.0 [003] 2.000001: cpu-clock:"
        "\tmetric_erlang_reductions: 1000, 0\tmetric_erlang_total_heap_size: 2000, 0\n"
        "\t    7f20aabbccdd erlang:%2B/2 (/tmp/perf-100.map)\n"
        "\t    7f20aabb0000 proc_lib:init_p/5 (/tmp/perf-100.map)\n"
        "\n"
        "running\t0.85.0 [003] 2.010000: cpu-clock:\tmetric_erlang_reductions: 1500, 500\n"
        "\tffffffff81000000 do_syscall_64 ([kernel.kallsyms])\n"
        "\t            1000 memcpy (/opt/my%20lib/libc.so.6)\n"
        "\t    7f20aabb0000 proc_lib:init_p/5 (/tmp/perf-100.map)\n"
        "\n"
        "no process\t0.0.0 [000] 2.020000: cpu-clock:\n"
        "\t            2000 spin (/usr/bin/beam.smp)\n"
        "\t               0 [scheduler] busy-wait (/tmp/perf-100.map)\n"
        "\n"
        "running\t0.85.0 [003] 3.000001: cpu-clock:"
        "\tmetric_erlang_reductions: 4000, 2500\tmetric_erlang_total_heap_size: 600, -1400\n"
        "\t    7f20aabbccdd erlang:%2B/2 (/tmp/perf-100.map)\n"
        "\t    7f20aabb0000 proc_lib:init_p/5 (/tmp/perf-100.map)\n"
        "\n"
        "# loss ring_full 2\n"
        "# loss unknown_native 1\n"
        "\n");
    free(text);
}

/* Every metric has its own name, in the form that the reader expects. */
static void test_every_metric_has_its_own_name(void **state)
{
    struct small_profile small;
    char *text, *at;
    regex_t expression;
    regmatch_t match;
    int found = 0;

    (void)state;
    small_profile_make(&small);
    for (int i = 0; i < METRICS; i++)
        metrics_set(&small.samples[0].metrics, (enum metric)i, (uint64_t)i + 7);
    text = small_output(&small, &flame_prof_format, &no_groups);
    at = samples(text);
    *strchr(at, '\n') = '\0';
    assert_non_null(strstr(at, "\tmetric_erlang_message_queue_len: 8, 0"));
    assert_int_equal(
        regcomp(&expression, "\tmetric_erlang_[a-z_]+: [0-9]+, -?[0-9]+", REG_EXTENDED), 0);
    for (; regexec(&expression, at, 1, &match, 0) == 0; at += match.rm_eo)
        found++;
    assert_int_equal(found, METRICS);
    assert_string_equal(at, "");
    regfree(&expression);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flame_prof_file_is_exact),
        cmocka_unit_test(test_every_metric_has_its_own_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
