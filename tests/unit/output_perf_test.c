// SPDX-License-Identifier: Apache-2.0
#include "small_output.h"

#define HEADER                                                                                     \
    "# ========\n"                                                                                 \
    "# captured on    : Fri Nov 21 03:50:12 2025\n"                                                \
    "# hostname : web-1\n"                                                                         \
    "# os release : 6.18.0\n"                                                                      \
    "# beamflame version : 0.1.0\n"                                                                \
    "# cmdline : beamflame -p 100\n"                                                               \
    "# start by clock : 1.000000000\n"                                                             \
    "# start since 1970 : 1763697012.000000000\n"                                                  \
    "# frequency : 100\n"                                                                          \
    "# ========\n"                                                                                 \
    "#\n"

/* The whole file, byte for byte: leaf first, times never a whole second, operators escaped. */
static void test_perf_file_is_exact(void **state)
{
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    assert_output(&small, &perf_format,
                  HEADER "erts_sched_1 100/102 [003] 2.000001:          1 cpu-clock:\n"
                         "\t    7f20aabbccdd erlang:%2B/2 (/tmp/perf-100.map)\n"
                         "\t    7f20aabb0000 proc_lib:init_p/5 (/tmp/perf-100.map)\n"
                         "\t               0 cart (/tmp/perf-100.map)\n"
                         "\n"
                         "erts_sched_1 100/102 [003] 2.010000:          1 cpu-clock:\n"
                         "\tffffffff81000000 do_syscall_64 ([kernel.kallsyms])\n"
                         "\t            1000 memcpy (/opt/my%20lib/libc.so.6)\n"
                         "\t    7f20aabb0000 proc_lib:init_p/5 (/tmp/perf-100.map)\n"
                         "\t               0 cart (/tmp/perf-100.map)\n"
                         "\n"
                         "erts_sched_1 100/102 [000] 2.020000:          1 cpu-clock:\n"
                         "\t            2000 spin (/usr/bin/beam.smp)\n"
                         "\t               0 [scheduler] busy-wait (/tmp/perf-100.map)\n"
                         "\n"
                         "erts_sched_1 100/102 [003] 3.000001:          1 cpu-clock:\n"
                         "\t    7f20aabbccdd erlang:%2B/2 (/tmp/perf-100.map)\n"
                         "\t    7f20aabb0000 proc_lib:init_p/5 (/tmp/perf-100.map)\n"
                         "\t               0 cart (/tmp/perf-100.map)\n"
                         "\n"
                         "# loss ring_full 2\n"
                         "# loss unknown_native 1\n"
                         "\n");
}

/* Exactly those characters are escaped that an importer would misread. */
static void test_characters_that_importers_misread_are_escaped(void **state)
{
    static const struct {
        const char *symbol, *line;
    } cases[] = {
        {"f(int, char)", " f%28int, char) (/"},
        {"a->b", " a-%3Eb (/"},
        {"vector<int>", " vector<int> (/"},
        {"a;b", " a%3Bb (/"},
        {"100%", " 100%25 (/"},
        {"x 12: y: z", " x 12%3A y: z (/"},
        {"-f/1-fun-0-/0", " -f/1-fun-0-/0 (/"},
        {" padded ", " %20padded%20 (/"},
        {"m:'caf\xc3\xa9'/1", " m:'caf\xc3\xa9'/1 (/"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct small_profile small;
        char *text;

        small_profile_make(&small);
        small.samples[0].stack = profile_stack(
            small.profile, 0, small_frame(small.profile, cases[i].symbol, "", FRAME_ERLANG, 1));
        text =
            small_output(&small, &perf_format, &(struct view_options){.grouping = {{GROUP_NAME}}});
        if (!strstr(text, cases[i].line))
            fail_msg("no \"%s\" in: %s", cases[i].line, text);
        free(text);
    }
}

/* A sample of more than one period has that weight, rounded; a sample of none has 1. */
static void test_weight_is_the_rounded_number_of_periods(void **state)
{
    struct small_profile small;
    char *text;

    (void)state;
    small_profile_make(&small);
    small.samples[0].values[0] = 25 * 10000000;
    small.samples[1].values[0] = 0;
    small.samples[2].values[0] = 15 * 1000000;
    small.samples[3].values[0] = 25 * 1000000 - 1;
    text = small_output(&small, &perf_format, &(struct view_options){.grouping = {{GROUP_NAME}}});
    assert_non_null(strstr(text, " 2.000001:         25 cpu-clock:\n"));
    assert_non_null(strstr(text, " 2.010000:          1 cpu-clock:\n"));
    assert_non_null(strstr(text, " 2.020000:          2 cpu-clock:\n"));
    assert_non_null(strstr(text, " 3.000001:          2 cpu-clock:\n"));
    assert_non_null(strstr(text, "\n# sum 30 samples, whose time is 29 periods of 10000000 ns\n"));
    free(text);
}

/* A thread has the name that the VM gives it, without characters that importers misread. */
static void test_threads_have_their_names(void **state)
{
    static const struct {
        const char *name, *line;
        uint16_t kind, number;
    } cases[] = {
        {"3_dirty_cpu", "\nerts_dcpus_3 100/7 [", SCHEDULER_DIRTY_CPU, 3},
        {"erts_dios_12", "\nerts_dios_12 100/7 [", SCHEDULER_DIRTY_IO, 12},
        {"erts_poll_0", "\nerts_poll_0 100/7 [", SCHEDULER_NONE, 0},
        {"a (b);c 1/2", "\na%20%28b)%3Bc%201/2 100/7 [", SCHEDULER_NONE, 0},
        {"0_poller", "\nbeam.smp 100/7 [", SCHEDULER_NONE, 0},
        {"", "\nbeam.smp 100/7 [", SCHEDULER_NONE, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct small_profile small;
        struct thread_entry thread;
        char *text;

        small_profile_make(&small);
        thread = *profile_get_thread(small.profile, small.samples[0].thread);
        thread.tid = 7;
        thread.name = profile_string_z(small.profile, cases[i].name);
        thread.scheduler_kind = cases[i].kind;
        thread.scheduler_number = cases[i].number;
        small.samples[0].thread = profile_thread(small.profile, &thread);
        text =
            small_output(&small, &perf_format, &(struct view_options){.grouping = {{GROUP_NAME}}});
        if (!strstr(text, cases[i].line))
            fail_msg("no \"%s\" in: %s", cases[i].line, text);
        free(text);
    }
}

/* A sample without frames still has one line; importers would drop it otherwise. */
static void test_sample_without_frames_has_one_line(void **state)
{
    struct small_profile small;
    char *text;

    (void)state;
    small_profile_make(&small);
    small.samples[0].stack = 0;
    text = small_output(&small, &perf_format, &(struct view_options){.grouping = {{GROUP_NONE}}});
    assert_non_null(strstr(text, "\n\t               0 [no stack] ([unknown])\n\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_perf_file_is_exact),
        cmocka_unit_test(test_characters_that_importers_misread_are_escaped),
        cmocka_unit_test(test_threads_have_their_names),
        cmocka_unit_test(test_weight_is_the_rounded_number_of_periods),
        cmocka_unit_test(test_sample_without_frames_has_one_line),
    };

    setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
