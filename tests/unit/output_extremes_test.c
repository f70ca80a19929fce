// SPDX-License-Identifier: Apache-2.0
/* Every format of recordings in which optional things are absent and numbers are extreme. */
#include "small_output.h"

#include "../fuzz/full_profile.h"
#include "output/number_text.h"
#include "util/number.h"

static const struct output_format *const formats[] = {
    &perf_format,  &folded_format,     &svg_format,        &dot_format,       &summary_format,
    &html_format,  &stats_json_format, &speedscope_format, &callgrind_format, &json_format,
    &pprof_format, &otlp_format,       &flame_prof_format, &text_format,      &fprof_format,
};

/* Pages show 49 days at most. */
static bool is_too_long(uint32_t flags, const struct output_format *format)
{
    return flags & FULL_HUGE_TIMES && format == &html_format;
}

/* Write an event in a format; a recording may have nothing for it. Return the text, or NULL. */
static char *text_of(uint32_t flags, const struct output_format *format, const char *event)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}, .event = event};
    struct error error = {0};
    struct recording *recording =
        recording_open(full_recording(memory_file(), flags), "test", &error);
    size_t size;
    char *text = NULL;
    FILE *file = open_memstream(&text, &size);
    struct output_request request = {.path = "-", .format = format, .file = file};
    struct output_result result;
    int failed;

    assert_non_null(recording);
    failed = output_write(recording, &settings, &request, 1, &result, &error);
    fclose(file);
    recording_close(recording);
    if (!failed) {
        output_result_free(&result);
        return text;
    }
    if (error.code != ERROR_NO_SAMPLES && !is_too_long(flags, format))
        fail_msg("%s: %s", format->name, error.text);
    free(text);
    return NULL;
}

/* Return the number of events that a format shows. */
static int write_events(uint32_t flags, const struct output_format *format)
{
    static const char *const events[] = {"cpu", "sched", "msg", "gc"};
    int shown = 0;

    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        char *text;

        if (format->of_peers && i != 1 && i != 2)
            continue;
        text = text_of(flags, format, events[i]);
        shown += text != NULL;
        free(text);
    }
    return shown;
}

static void test_each_extreme_gives_each_format(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        for (int flag = -1; flag < FULL_FLAGS; flag++) {
            uint32_t flags = flag < 0 ? 0 : 1U << flag;

            assert_true(write_events(flags, formats[i]) > 1 || is_too_long(flags, formats[i]));
        }
}

static void test_pairs_of_extremes_give_each_format(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        for (int a = 0; a < FULL_FLAGS - 1; a++)
            for (int b = 0; b < a; b++) {
                uint32_t flags = 1U << a | 1U << b;
                char *text = text_of(flags, formats[i], formats[i]->of_peers ? "sched" : "cpu");

                if (!text && !is_too_long(flags, formats[i]))
                    fail_msg("%s: flags %d and %d", formats[i]->name, a, b);
                free(text);
            }
}

/* A thread of an unknown target is shown without it, where there are several. */
static void test_thread_without_a_target_is_written(void **state)
{
    char *speedscope = text_of(FULL_THREAD_WITHOUT_TARGET, &speedscope_format, "cpu");
    char *summary = text_of(FULL_THREAD_WITHOUT_TARGET, &summary_format, "sched");

    (void)state;
    assert_non_null(strstr(speedscope, "\"name\":\"scheduler 1\""));
    assert_non_null(strstr(summary, "\n  scheduler 1 "));
    free(speedscope);
    free(summary);
}

/* Sums do not begin again at 0, and no number of a double is beyond its integer. */
static void test_largest_numbers_are_written(void **state)
{
    char *text = text_of(FULL_HUGE_VALUES, &folded_format, "msg");

    (void)state;
    assert_non_null(strstr(text, " 18446744073709551615\n"));
    free(text);
    assert_string_equal(number_text_rate(UINT64_MAX, 1e-9).text, "18,446,744,073,709,551,615");
    assert_true(saturating_sum(UINT64_MAX, 1) == UINT64_MAX);
    assert_true(saturating_sum(UINT64_MAX - 1, 1) == UINT64_MAX);
    assert_true(whole_part(0x1p64) == UINT64_MAX);
    assert_true(whole_part(-1) == 0);
    assert_true(whole_part(0.0 / 0.0) == 0);
    assert_true(whole_part(1.9) == 1);
}

/* A name is cut between characters. */
static void test_cut_name_ends_with_a_whole_character(void **state)
{
    char name[200], *text;
    const char *who[] = {"<0.85.0>"};
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}},
                                             .selection.processes = {who, 1}};
    struct small_profile small;
    struct process_entry entry;

    (void)state;
    memset(name, 'a', 89);
    strcpy(name + 89, "\xc3\xa9\xc3\xa9");
    small_profile_make(&small);
    entry = *profile_get_process(small.profile, 1);
    entry.name = profile_string_z(small.profile, name);
    small.samples[0].process = profile_process(small.profile, &entry);
    small.samples[1].process = small.samples[3].process = small.samples[0].process;
    text = small_output_of(&small, &speedscope_format, &settings);
    assert_non_null(strstr(text, "aaa\xc3\xa9\"")); /* 89 letters and one character */
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_extreme_gives_each_format),
        cmocka_unit_test(test_pairs_of_extremes_give_each_format),
        cmocka_unit_test(test_thread_without_a_target_is_written),
        cmocka_unit_test(test_largest_numbers_are_written),
        cmocka_unit_test(test_cut_name_ends_with_a_whole_character),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
