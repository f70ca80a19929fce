// SPDX-License-Identifier: Apache-2.0
/* Files of the outputs of a recording with several events, and requests that are refused.
 * */
#include "small_events.h"

#include "output/output_file.h"

/* Each event with samples has its own file; formats for all events have one file. */
static void test_each_event_has_its_own_file(void **state)
{
    const struct output_settings all = {.view.grouping = {{GROUP_NAME}}};
    const struct output_request requests[] = {{.path = in_directory("x.folded")},
                                              {.path = in_directory("x.bfr")}};
    struct output_result result;
    struct error error;
    char *text;

    (void)state;
    if (write_events(&all, requests, 2, &result, &error))
        fail_msg("%s", error.text);
    assert_int_equal(result.path_count, 3);
    assert_string_equal(result.paths[0], in_directory("x.cpu.folded"));
    assert_string_equal(result.paths[1], in_directory("x.gc.folded"));
    assert_string_equal(result.paths[2], in_directory("x.bfr"));
    output_result_free(&result);
    text = take_file("x.cpu.folded");
    assert_string_equal(text, "[scheduler] busy-wait;spin 1\n"
                              "cart;proc_lib:init_p/5;erlang:+/2 1\n");
    free(text);
    text = take_file("x.gc.folded");
    assert_string_equal(text, "cart;proc_lib:init_p/5;erlang:+/2 4567890\n"
                              "cart;proc_lib:init_p/5;memcpy;do_syscall_64 12300\n");
    free(text);
    free(take_file("x.bfr"));
    assert_directory_is_empty();
}

/* The output of a selected event keeps its name; its samples count the selected value, and samples
 * with value 0 are skipped. */
static void test_selected_event_keeps_the_name_of_its_output(void **state)
{
    const struct output_settings reclaimed = {{.grouping = {{GROUP_NAME}}}, "gc", "reclaimed"};
    const struct output_request request = {.path = in_directory("x.folded")};
    struct output_result result;
    struct error error;
    char *text;

    (void)state;
    assert_int_equal(write_events(&reclaimed, &request, 1, &result, &error), 0);
    assert_int_equal(result.path_count, 1);
    assert_string_equal(result.paths[0], request.path);
    output_result_free(&result);
    text = take_file("x.folded");
    assert_string_equal(text, "cart;proc_lib:init_p/5;memcpy;do_syscall_64 1000\n");
    free(text);
    assert_directory_is_empty();
}

/* Unknown names are refused with the valid ones; so is an event with nothing to show. */
static void test_unknown_events_and_values_are_refused(void **state)
{
    const struct output_request request = {.path = in_directory("x.svg")};

    (void)state;
    assert_refused(&(struct output_settings){.event = "sched"}, &request, 1, ERROR_USAGE,
                   "no event 'sched'; it has: cpu, gc, bif:erlang:md5/1");
    assert_refused(&(struct output_settings){.event = "gc", .value = "words"}, &request, 1,
                   ERROR_USAGE,
                   "event gc has no value 'words'; it has: time, count, reclaimed, binaries, "
                   "heap-before, heap-after");
    assert_refused(&(struct output_settings){.value = "count"}, &request, 1, ERROR_USAGE,
                   "event cpu has no value 'count'; it has: time");
    assert_refused(&(struct output_settings){.value = "wall"}, &request, 1, ERROR_NO_SAMPLES,
                   "no event 'wall'; it has: cpu, gc, bif:erlang:md5/1");
    assert_refused(&(struct output_settings){.event = "gc", .value = "cpu"}, &request, 1,
                   ERROR_USAGE, "--weight cpu is the time of event cpu, not of gc");
    assert_refused(&(struct output_settings){.event = "bif:erlang:md5/1"}, &request, 1,
                   ERROR_NO_SAMPLES, "no samples of event bif:erlang:md5/1");
}

static void test_samples_that_count_0_make_no_graph(void **state)
{
    const struct output_settings binaries = {.event = "gc", .value = "binaries"};
    const struct output_request request = {.path = in_directory("x.svg")};
    struct small_profile small;
    struct output_result result;
    struct error error;

    (void)state;
    small_profile_make(&small);
    small_profile_add_events(&small);
    small.samples[3].values[GC_BINARIES] = 0;
    assert_int_equal(write_small(&small, &binaries, &request, 1, &result, &error), 0);
    assert_int_equal(result.path_count, 0);
    assert_int_equal(result.empty_count, 1);
    assert_ptr_equal(result.empty[0].request, &request);
    assert_string_equal(result.empty[0].total.text, "");
    output_result_free(&result);
    assert_directory_is_empty();
}

/* One of two names is of a process: the output is written, and the result has the other one. */
static void test_result_has_names_that_nothing_has(void **state)
{
    const struct output_request request = {.path = in_directory("x.svg")};
    struct output_settings settings = {.value = NULL};
    struct small_profile small;
    struct recording *recording;
    struct output_result result;
    struct error error;

    (void)state;
    small_profile_make(&small);
    assert_int_equal(selection_add_process(&settings.selection.processes, "cart", &error), 0);
    assert_int_equal(selection_add_process(&settings.selection.processes, "cars", &error), 0);
    recording = recording_open(small_recording(&small), "test", &error);
    assert_int_equal(output_write(recording, &settings, &request, 1, &result, &error), 0);
    assert_int_equal(result.path_count, 1);
    assert_string_equal(result.unmatched, "no process is 'cars', did you mean 'cart'?");
    assert_int_equal(unlink(result.paths[0]), 0);
    output_result_free(&result);
    recording_close(recording);
    selection_options_free(&settings.selection);
    profile_free(small.profile);
    assert_directory_is_empty();
}

/* Write the counts of an event without samples. Return the summary. */
static char *summary_of_counted(const struct event_summary *counted, enum error_code code)
{
    struct output_request requests[] = {{.path = in_directory("x.svg"), .optional = true},
                                        {.path = "summary", .format = &summary_format}};
    const struct output_settings all = {.view.grouping = {{GROUP_NAME}}};
    struct small_profile small;
    struct recording_writer *writer;
    struct recording *recording;
    struct output_result result;
    struct error error = {0};
    char *text = NULL;
    size_t size;
    int fd;

    small_profile_make(&small);
    small_profile_add_events(&small);
    small.totals.samples = 0;
    writer = recording_create(NULL, "/tmp", &small_header, &error);
    assert_int_equal(recording_put_summary(writer, small.profile, counted, &error), 0);
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, &fd, &error), 0);
    recording = recording_open(fd, "test", &error);
    requests[1].file = open_memstream(&text, &size);
    assert_int_equal(output_write(recording, &all, requests, 2, &result, &error), code ? -1 : 0);
    assert_int_equal(error.code, code);
    if (!code) {
        assert_int_equal(result.empty_count, 1);
        assert_ptr_equal(result.empty[0].request, &requests[0]);
        assert_int_equal(result.empty[0].total.text[0] != 0, counted->sums[0] != 0);
        output_result_free(&result);
    }
    fclose(requests[1].file);
    recording_close(recording);
    profile_free(small.profile);
    assert_directory_is_empty();
    return text;
}

/* An event without samples has its counts in the summary; without counts there is an error. */
static void test_counts_without_samples_are_in_the_summary(void **state)
{
    struct event_summary counted = {.event = 2,
                                    .hits = 12,
                                    .span_ns = 1000000000,
                                    .covered_ns = 2000000,
                                    .windows = 1,
                                    .sums = {4500, 6, 0, 10},
                                    .errors = {EVENT_ERROR_UNKNOWN, EVENT_ERROR_UNKNOWN, 0, 10}};
    char *text = summary_of_counted(&counted, ERROR_NONE);

    (void)state;
    assert_non_null(strstr(text, "samples   0 in 2.5 s: 0 cpu"));
    assert_null(strstr(text, "coverage"));
    assert_non_null(
        strstr(text, "event gc: 0 samples, 12 hits, 0.2 % of the time covered in 1 window\n"
                     "  time              4.5 us +- ? (windows are too few or too short: raise "
                     "--budget or record longer)\n"
                     "  count             6 times +- ? (windows are too few or too short: raise "
                     "--budget or record longer)\n"
                     "  reclaimed         0 words, at most 1,500 hits\n"
                     "  binaries          10 B +- 20 B (windows are too few or too short: raise "
                     "--budget or record longer)\n"));
    free(text);
    counted.hits = 0;
    free(summary_of_counted(&counted, ERROR_NO_SAMPLES));
}

/* Several events are refused where only one file fits. */
static void test_several_events_are_refused_for_one_file(void **state)
{
    const struct output_settings all = {.view.grouping = {{GROUP_NAME}}};
    const struct output_request stdout_request = {.path = "-", .format = &perf_format};
    const struct output_request device = {.path = "/dev/null", .format = &svg_format};
    const struct output_request requests[] = {
        {.path = in_directory("x.folded")},
        {.path = in_directory("x.gc.folded"), .format = &bfr_format},
    };
    struct error error;

    (void)state;
    assert_refused(&all, &stdout_request, 1, ERROR_USAGE, "choose one event with --event");
    assert_refused(&all, &device, 1, ERROR_USAGE, "choose one event with --event");
    assert_refused(&all, requests, 2, ERROR_USAGE, "x.gc.folded: two outputs have this name");
    assert_int_equal(output_check(&stdout_request, 1, 1, false, &error), 0);
    assert_int_equal(output_check(&stdout_request, 1, 2, false, &error), -1);
    assert_int_equal(output_check(requests, 2, 2, false, &error), 0);
}

static void test_event_goes_before_the_suffix_of_a_path(void **state)
{
    static const struct {
        const char *path, *event, *result;
        const struct output_format *format;
    } cases[] = {
        {"x.perf", "gc", "x.gc.perf", &perf_format},
        {"a.b/x.perf.gz", "gc", "a.b/x.gc.perf.gz", &perf_format},
        {"x.svg", "gc", "x.svg.gc", &perf_format},
        {"x.txt.gz", "gc", "x.txt.gc.gz", &perf_format},
        {"x", "gc", "x.gc", &folded_format},
        {"x.svg", "bif:erlang:md5/1", "x.bif-erlang-md5-1.svg", &svg_format},
        {"x.svg", "../../etc/x y", "x...-..-etc-x-y.svg", &svg_format},
    };
    char name[300], *path;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        path = output_file_split_path(cases[i].path, cases[i].format, cases[i].event);
        assert_string_equal(path, cases[i].result);
        free(path);
    }
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    path = output_file_split_path("y.perf", &perf_format, name);
    assert_int_equal(strlen(path), 1 + 1 + 100 + 5);
    free(path);
}

/* A graph without edges is written beside the file of a format that holds all events. */
static void test_graph_without_edges_stands_beside_other_formats(void **state)
{
    const struct output_settings all = {.view.grouping = {{GROUP_NAME}}};
    const struct output_request requests[] = {{.path = in_directory("x.bfr")},
                                              {.path = in_directory("x.dot")}};
    struct small_profile small;
    struct output_result result;
    struct error error;

    (void)state;
    small_profile_make(&small);
    for (int i = 0; i < SMALL_SAMPLES; i++)
        small.samples[i].event = event_define(small.profile, EVENT_MSG);
    assert_int_equal(write_small(&small, &all, requests, 2, &result, &error), 0);
    output_result_free(&result);
    free(take_file("x.bfr"));
    free(take_file("x.msg.dot"));
    assert_directory_is_empty();
}

/* A recording that is written again has the same counts and samples. */
static void test_recording_written_again_has_the_same_events(void **state)
{
    const struct output_settings all = {.view.grouping = {{GROUP_NAME}}};
    const struct output_request request = {.path = in_directory("x.bfr")};
    struct output_request summary = {.path = "summary", .format = &summary_format};
    struct recording *recording;
    struct output_result result;
    struct error error;
    char *text = NULL, *expected = text_of(&summary_format, NULL, NULL);
    size_t size;

    (void)state;
    assert_int_equal(write_events(&all, &request, 1, &result, &error), 0);
    output_result_free(&result);
    recording = recording_open(open(request.path, O_RDONLY), "x.bfr", &error);
    summary.file = open_memstream(&text, &size);
    assert_int_equal(output_write(recording, &all, &summary, 1, &result, &error), 0);
    fclose(summary.file);
    output_result_free(&result);
    recording_close(recording);
    assert_string_equal(text, expected);
    free(text);
    free(expected);
    unlink(request.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_event_has_its_own_file),
        cmocka_unit_test(test_selected_event_keeps_the_name_of_its_output),
        cmocka_unit_test(test_unknown_events_and_values_are_refused),
        cmocka_unit_test(test_samples_that_count_0_make_no_graph),
        cmocka_unit_test(test_result_has_names_that_nothing_has),
        cmocka_unit_test(test_counts_without_samples_are_in_the_summary),
        cmocka_unit_test(test_several_events_are_refused_for_one_file),
        cmocka_unit_test(test_event_goes_before_the_suffix_of_a_path),
        cmocka_unit_test(test_graph_without_edges_stands_beside_other_formats),
        cmocka_unit_test(test_recording_written_again_has_the_same_events),
    };

    setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests(tests, setup, teardown);
}
