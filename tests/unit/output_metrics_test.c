// SPDX-License-Identifier: Apache-2.0
/* Outputs weighted by metrics of processes. In the small profile, process cart has at its three
 * samples: reductions 1000, 1500, 4000; heap 2000, unknown, 600. */
#include "small_output.h"

static char *folded_by(const char *metric, bool change)
{
    struct small_profile small;
    struct output_settings settings = {
        .view.grouping = {{GROUP_NAME}}, .value = metric, .change = change};

    small_profile_make(&small);
    return small_output_of(&small, &folded_format, &settings);
}

static void assert_folded(const char *metric, bool change, const char *expected)
{
    char *text = folded_by(metric, change);

    assert_string_equal(text, expected);
    free(text);
}

/* Each sample counts its value; a sample without a process or a known value counts 0. */
static void test_each_sample_counts_its_metric(void **state)
{
    (void)state;
    assert_folded("reductions", false,
                  "cart;proc_lib:init_p/5;erlang:+/2 5000\n"
                  "cart;proc_lib:init_p/5;memcpy;do_syscall_64 1500\n");
    assert_folded("heap", false, "cart;proc_lib:init_p/5;erlang:+/2 2600\n");
}

/* Each sample counts the change since the last known value; the first counts 0. */
static void test_each_sample_counts_the_change_of_its_metric(void **state)
{
    (void)state;
    assert_folded("reductions", true,
                  "[growth];cart;proc_lib:init_p/5;erlang:+/2 2500\n"
                  "[growth];cart;proc_lib:init_p/5;memcpy;do_syscall_64 500\n");
    assert_folded("heap", true, "[release];cart;proc_lib:init_p/5;erlang:+/2 1400\n");
}

/* Values of other processes have no influence; a process with a new name is the same process. */
static void test_change_is_within_one_process(void **state)
{
    struct output_settings settings = {
        .view.grouping = {{GROUP_NAME}}, .value = "reductions", .change = true};
    struct small_profile small;
    struct process_entry process;
    char *text;

    (void)state;
    small_profile_make(&small);
    process = *profile_get_process(small.profile, small.samples[0].process);
    process.name = profile_string_z(small.profile, "kart");
    small.samples[3].process = profile_process(small.profile, &process);
    process.identity++;
    process.name = profile_string_z(small.profile, "other");
    small.samples[1].process = profile_process(small.profile, &process);
    text = small_output_of(&small, &folded_format, &settings);
    assert_string_equal(text, "[growth];kart;proc_lib:init_p/5;erlang:+/2 3000\n");
    free(text);
}

static void test_samples_without_the_metric_are_counted(void **state)
{
    struct output_settings settings = {.view.grouping = {{GROUP_NAME}}, .value = "heap"};
    struct small_profile small;
    char *text;

    (void)state;
    small_profile_make(&small);
    text = small_output_of(&small, &summary_format, &settings);
    assert_non_null(strstr(text, "unknown   1 samples without a known 'heap' do not count"));
    free(text);
    small_profile_make(&small);
    text = small_output_of(&small, &stats_json_format, &settings);
    assert_non_null(strstr(text, "\"unknown_weight\": 1,"));
    free(text);
}

static void test_perf_and_svg_name_the_metric_that_counts(void **state)
{
    struct output_settings settings = {
        .view.grouping = {{GROUP_NAME}}, .value = "heap", .change = true};
    struct small_profile small;
    char *text;

    (void)state;
    small_profile_make(&small);
    text = small_output_of(&small, &perf_format, &settings);
    assert_non_null(strstr(text, "# weight : change of heap in words\n"));
    assert_non_null(strstr(text, "# unknown 1 samples whose weight is not known\n"));
    assert_non_null(strstr(text, "3.000001:       1400 cpu-clock:\n"));
    free(text);
    small_profile_make(&small);
    text = small_output_of(&small, &svg_format, &settings);
    assert_non_null(strstr(text, "cpu: change of heap 1,400 words in 1 samples"));
    assert_non_null(strstr(text, ">release</text>"));
    assert_null(strstr(text, ">kernel</text>"));
    free(text);
}

/* `memory` keeps its last known value; an unknown `msgq` is shown as unknown. */
static void test_metrics_can_be_groups(void **state)
{
    struct output_settings settings = {.view.grouping = {{GROUP_MEMORY, GROUP_MSGQ}}};
    struct small_profile small;
    char *text;

    (void)state;
    small_profile_make(&small);
    metrics_set(&small.samples[1].metrics, METRIC_MEMORY, 12345);
    metrics_set(&small.samples[0].metrics, METRIC_MSGQ, 0);
    metrics_set(&small.samples[3].metrics, METRIC_MSGQ, 100);
    text = small_output_of(&small, &folded_format, &settings);
    assert_string_equal(
        text, "[memory 10 kB to 100 kB];[msgq 100 to 1000];proc_lib:init_p/5;erlang:+/2 1\n"
              "[memory 10 kB to 100 kB];[msgq not known];proc_lib:init_p/5;memcpy;do_syscall_64 1\n"
              "[memory not known];[msgq 0];proc_lib:init_p/5;erlang:+/2 1\n"
              "[scheduler] busy-wait;spin 1\n");
    free(text);
}

static void refuse(const char *value, bool change, const char *message)
{
    struct output_settings settings = {.value = value, .change = change};
    struct output_request request = {.path = "-", .format = &folded_format, .file = stdout};
    struct small_profile small;
    struct output_result result;
    struct recording *recording;
    struct error error;

    small_profile_make(&small);
    recording = recording_open(small_recording(&small), "test", &error);
    assert_int_equal(output_write(recording, &settings, &request, 1, &result, &error), -1);
    assert_int_equal(error.code, ERROR_USAGE);
    assert_non_null(strstr(error.text, message));
    recording_close(recording);
    profile_free(small.profile);
}

static void test_refusal_names_the_valid_metrics(void **state)
{
    (void)state;
    refuse("redactions", false,
           "has no value 'redactions'; it has: time; and metrics of the process: reductions, msgq, "
           "mbuf, heap, stack, young, old, bin_vheap");
    refuse("time", true, "--delta needs one of these metrics as --weight: reductions,");
    refuse(NULL, true, "--delta needs one of these metrics as --weight: reductions,");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_sample_counts_its_metric),
        cmocka_unit_test(test_each_sample_counts_the_change_of_its_metric),
        cmocka_unit_test(test_change_is_within_one_process),
        cmocka_unit_test(test_samples_without_the_metric_are_counted),
        cmocka_unit_test(test_perf_and_svg_name_the_metric_that_counts),
        cmocka_unit_test(test_metrics_can_be_groups),
        cmocka_unit_test(test_refusal_names_the_valid_metrics),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
