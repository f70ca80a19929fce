// SPDX-License-Identifier: Apache-2.0
/* `--event`: each output has the samples and counts of the selected events, and of no others. */
#include "small_output.h"

static char *output(const struct output_format *format, const char *events)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}, .event = events};
    struct small_profile small;

    small_profile_make(&small);
    small_profile_add_events(&small);
    return small_output_of(&small, format, &settings);
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in:\n%.3000s", part, text);
}

static void assert_has_not(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("\"%s\" in:\n%.3000s", part, text);
}

static void test_summary_and_text_have_the_selected_event(void **state)
{
    const struct output_format *const formats[] = {&summary_format, &text_format};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char *text = output(formats[i], "gc");

        assert_has(text, "samples   2 in 2.5 s: 2 gc\n");
        assert_has(text, "left out  2 samples of other events");
        assert_has(text, "event gc: 2 samples");
        assert_has_not(text, "cpu (cpu-clock");
        assert_has_not(text, "bif:erlang:md5/1");
        free(text);
        text = output(formats[i], "cpu");
        assert_has(text, "samples   2 in 2.5 s, of cpu-clock at 100 Hz\n");
        assert_has_not(text, "event gc");
        free(text);
    }
}

static void test_statistics_have_the_selected_event(void **state)
{
    char *text = output(&stats_json_format, "gc");

    (void)state;
    assert_has(text, "\"gc\": {\n      \"samples\": 2,");
    assert_has_not(text, "\"cpu\": {\n");
    assert_has_not(text, "bif:erlang:md5/1");
    free(text);
}

static void test_lines_of_json_have_the_selected_event(void **state)
{
    char *text = output(&json_format, "gc");

    (void)state;
    assert_has(text, "\"event\": \"gc\"");
    assert_has_not(text, "\"event\": \"cpu\"");
    assert_has_not(text, "bif:erlang:md5/1");
    free(text);
}

static void test_page_has_the_selected_event(void **state)
{
    char *text = output(&html_format, "gc");

    (void)state;
    assert_has(text, "\"events\": [{\"name\": \"gc\"");
    assert_has(text, "\"counts\": {\"samples\": 2,");
    assert_has(text, "\"otherEvents\": 2,");
    assert_has_not(text, "{\"name\": \"cpu\", \"values\"");
    assert_has_not(text, "{\"name\": \"bif:erlang:md5/1\", \"values\"");
    free(text);
}

static struct recording *recording_of(const char *events, struct small_profile *small)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}, .event = events};
    char path[] = "/tmp/output-event-choice-test.XXXXXX.bfr";
    int made = mkstemps(path, 4), fd;
    struct output_request request = {.path = path};
    struct output_result result;
    struct error error;
    struct recording *recording;

    assert_true(made >= 0);
    close(made);
    small_profile_make(small);
    small_profile_add_events(small);
    recording = recording_open(small_recording(small), "test", &error);
    if (output_write(recording, &settings, &request, 1, &result, &error))
        fail_msg("%s", error.text);
    output_result_free(&result);
    recording_close(recording);
    fd = open(path, O_RDONLY);
    unlink(path);
    recording = recording_open(fd, "test", &error);
    assert_non_null(recording);
    return recording;
}

/* Read a recording. Return the number of its samples, all of which must be of event 1. */
static uint64_t read_all(struct recording *recording, struct profile *profile)
{
    struct sample sample;
    struct error error;
    uint64_t count = 0;
    bool cut;

    while (recording_next(recording, profile, &sample, &cut, &error) > 0) {
        assert_int_equal(sample.event, 1);
        count++;
    }
    assert_false(cut);
    return count;
}

static bool has_string(const struct profile *profile, const char *text)
{
    for (string_id id = 1; id <= profile_counts(profile).strings; id++)
        if (!strcmp(profile_text(profile, id), text))
            return true;
    return false;
}

/* The new recording has the event, its counts with their names, and only its stacks. */
static void test_recording_has_the_selected_event(void **state)
{
    struct small_profile small;
    struct recording *recording = recording_of("gc", &small);
    struct profile *profile = profile_new();
    const struct event_summary *summary;

    (void)state;
    assert_int_equal(read_all(recording, profile), 2);
    assert_int_equal(profile_counts(profile).events, 1);
    assert_string_equal(profile_text(profile, profile_get_event(profile, 1)->name), "gc");
    assert_false(has_string(profile, "spin"));
    assert_true(has_string(profile, "do_syscall_64"));
    summary = recording_get_summary(recording, 1);
    assert_non_null(summary);
    assert_int_equal(summary->hits, 1234);
    assert_int_equal(summary->errors[GC_TIME], 100000);
    assert_int_equal(summary->histogram_count, 1);
    assert_string_equal(profile_text(profile, summary->histograms[0].name), "pause, \"minor\"");
    assert_string_equal(profile_text(profile, summary->tallies[0].name), "put off");
    assert_int_equal(recording_get_totals(recording)->losses[LOSS_RING_FULL], 2);
    assert_int_equal(recording_get_totals(recording)->cpu_accounted_ns, 0);
    profile_free(profile);
    profile_free(small.profile);
    recording_close(recording);
}

static void test_several_events_can_be_selected(void **state)
{
    char *text = output(&summary_format, "gc,bif:erlang:md5/1");

    (void)state;
    assert_has(text, "samples   2 in 2.5 s: 2 gc, 0 bif:erlang:md5/1\n");
    assert_has(text, "event gc: 2 samples");
    free(text);
    text = output(&summary_format, "gc,gc");
    assert_has(text, "samples   2 in 2.5 s: 2 gc\n");
    free(text);
    text = output(&folded_format, "gc,gc");
    assert_has(text, "do_syscall_64 12300\n");
    free(text);
}

/* `perf record` has events such as cpu/event=0x3c,umask=0x0/. */
static void test_a_name_with_a_comma_is_one_event(void **state)
{
    struct profile *profile = profile_new();
    struct event_entry event = {.value_count = 1};
    struct event_choice choice;
    struct error error;

    (void)state;
    event.name = profile_string_z(profile, "cpu/event=0x3c,umask=0x0/");
    event.values[0].name = profile_string_z(profile, "count");
    profile_event(profile, &event);
    event.name = profile_string_z(profile, "faults");
    profile_event(profile, &event);
    assert_int_equal(event_choice_make(&choice, profile, "cpu/event=0x3c,umask=0x0/", &error), 0);
    assert_true(choice.has[1] && !choice.has[2]);
    event_choice_free(&choice);
    assert_int_equal(event_choice_make(&choice, profile, "faults,nothing", &error), -1);
    assert_int_equal(error.code, ERROR_USAGE);
    assert_string_equal(error.text, "the recording has no event 'nothing'; it has: "
                                    "cpu/event=0x3c,umask=0x0/, faults");
    event_choice_free(&choice);
    assert_int_equal(event_choice_make(&choice, profile, ",", &error), -1);
    event_choice_free(&choice);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary_and_text_have_the_selected_event),
        cmocka_unit_test(test_statistics_have_the_selected_event),
        cmocka_unit_test(test_lines_of_json_have_the_selected_event),
        cmocka_unit_test(test_page_has_the_selected_event),
        cmocka_unit_test(test_recording_has_the_selected_event),
        cmocka_unit_test(test_several_events_can_be_selected),
        cmocka_unit_test(test_a_name_with_a_comma_is_one_event),
    };

    setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests_name("output_event_choice", tests, NULL, NULL);
}
