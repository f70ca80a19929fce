// SPDX-License-Identifier: Apache-2.0
/* Comparisons: their options, and what each format writes of both sides. */
#include "small_output.h"

#include "output/changes/comparison.h"

/* Samples 0 to 2 belong to side 0, of 1.5 s, sample 3 to side 1, of 0.5 s. */
static struct comparison small_comparison(enum comparison_per per)
{
    return (struct comparison){
        .sides = {{.name = "old.bfr", .header = small_header, .from_ms = 0, .to_ms = 1500},
                  {.name = "new.bfr", .header = small_header, .from_ms = 2000, .to_ms = 2500}},
        .per = per,
    };
}

static void assert_compared(const struct output_format *format, enum comparison_per per,
                            const char *expected)
{
    struct comparison comparison = small_comparison(per);
    struct output_settings settings = {
        .view.grouping = {{GROUP_NAME}},
        .event = "cpu",
        .comparison = &comparison,
    };
    struct small_profile small;
    char *text;

    small_profile_make(&small);
    text = small_output_of(&small, format, &settings);
    assert_string_equal(text, expected);
    free(text);
}

static void test_scale_makes_durations_or_totals_equal(void **state)
{
    struct comparison comparison = small_comparison(PER_TIME);
    const double totals[2] = {50, 200}, nothing[2] = {50, 0};

    (void)state;
    assert_true(comparison_scale(&comparison, totals) == 500.0 / 1500);
    comparison.per = PER_TOTAL;
    assert_true(comparison_scale(&comparison, totals) == 4);
    assert_true(comparison_scale(&comparison, nothing) == 1);
    comparison.per = PER_NONE;
    assert_true(comparison_scale(&comparison, totals) == 1);
}

static void test_unknown_normalization_is_refused(void **state)
{
    enum comparison_per per;
    struct error error;

    (void)state;
    assert_int_equal(comparison_per_parse("total", &per, &error), 0);
    assert_int_equal(per, PER_TOTAL);
    assert_int_equal(comparison_per_parse("space", &per, &error), -1);
    assert_int_equal(error.code, ERROR_USAGE);
    assert_string_equal(error.text, "can't normalize by 'space'; choose one of: time, total, none");
}

static void test_text_has_both_sides_and_the_scale(void **state)
{
    (void)state;
    assert_compared(
        &changes_format, PER_TIME,
        "cpu, time\nbefore    old.bfr: 30.0 ms in 3 samples, 1.5 s\nafter     new.bfr: 10.0 ms in "
        "1 sample, 0.5 s\nbefore is multiplied by 0.3333, to the duration of the second\n5 "
        "functions have not changed by more than chance explains\n");
}

/* A recording of the samples of the small profile, four times each. Three of four are in
 * erlang:+/2. */
static int recording_of_sixteen(void)
{
    struct small_profile small;
    struct recording_writer *writer;
    struct error error;
    int fd;

    small_profile_make(&small);
    small.samples[2].stack = small.samples[0].stack;
    writer = recording_create(NULL, "/tmp", &small_header, &error);
    for (int i = 0; i < 4 * SMALL_SAMPLES; i++)
        assert_int_equal(
            recording_append(writer, small.profile, &small.samples[i % SMALL_SAMPLES], &error), 0);
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, &fd, &error), 0);
    profile_free(small.profile);
    return fd;
}

/* The table of this recording as side 0, and nothing as side 1. */
static void assert_table(enum comparison_sort sort, const char *expected)
{
    struct comparison comparison = small_comparison(PER_NONE);
    struct output_settings settings = {
        .view.grouping = {{GROUP_NAME}},
        .event = "cpu",
        .comparison = &comparison,
    };
    char *text;
    size_t size;

    comparison.sides[1].from_ms = 2001;
    comparison.sort = sort;
    text = output_of_fd(recording_of_sixteen(), &changes_format, &settings, &size);
    assert_string_equal(strstr(text, "\n\n") + 2, expected);
    free(text);
}

static void test_change_beyond_the_noise_is_listed(void **state)
{
    (void)state;
    assert_table(SORT_CHANGE,
                 "        before           after          change                        noise  "
                 "without callees\n"
                 "      160.0 ms               0       -160.0 ms     -100.0 %        106.4 ms      "
                 "         0  "
                 "proc_lib:init_p/5\n"
                 "      120.0 ms               0       -120.0 ms     -100.0 %         96.8 ms      "
                 " -120.0 ms  "
                 "erlang:+/2\n2 functions have not changed by more than chance explains\n");
}

/* Sorted by self, the columns and the noise are the function's, without callees. */
static void test_table_can_be_sorted_by_self(void **state)
{
    (void)state;
    assert_table(SORT_SELF,
                 "        before           after          change                        noise    "
                 "with callees\n"
                 "      120.0 ms               0       -120.0 ms     -100.0 %         96.8 ms      "
                 " -120.0 ms  "
                 "erlang:+/2\n1 function has not changed by more than chance explains\n");
}

static void test_unknown_order_is_refused(void **state)
{
    enum comparison_sort sort;
    struct error error;

    (void)state;
    assert_int_equal(comparison_sort_parse("self", &sort, &error), 0);
    assert_int_equal(sort, SORT_SELF);
    assert_int_equal(comparison_sort_parse("name", &sort, &error), -1);
    assert_string_equal(error.text, "can't sort by 'name'; choose one of: change, self, total");
}

/* The value of a metric in one recording is not the base of a change in the other. */
static void test_metric_changes_within_each_recording_only(void **state)
{
    struct comparison comparison = small_comparison(PER_NONE);
    struct output_settings settings = {
        .view.grouping = {{GROUP_NAME}},
        .event = "cpu",
        .value = "heap",
        .change = true,
        .comparison = &comparison,
    };
    struct small_profile small;
    char *text;

    (void)state;
    small_profile_make(&small);
    metrics_set(&small.samples[1].metrics, METRIC_HEAP, 2100);
    text = small_output_of(&small, &changes_format, &settings);
    assert_non_null(strstr(text, "cpu, change of heap\n"
                                 "before    old.bfr: 100 words in 1 sample, 1.5 s\n"
                                 "after     new.bfr: 0 in 0 samples, 0.5 s\n"));
    free(text);
}

/* Three lines of a third each, scaled to the total of the second side, are 1 together. */
static void test_folded_line_has_a_count_for_each_side(void **state)
{
    (void)state;
    assert_compared(&folded_format, PER_NONE,
                    "[scheduler] busy-wait;spin 1 0\n"
                    "cart;proc_lib:init_p/5;erlang:+/2 1 1\n"
                    "cart;proc_lib:init_p/5;memcpy;do_syscall_64 1 0\n");
    assert_compared(&folded_format, PER_TOTAL, "cart;proc_lib:init_p/5;erlang:+/2 1 1\n");
}

static void test_page_has_both_recordings_and_their_ranges(void **state)
{
    struct comparison comparison = small_comparison(PER_TOTAL);
    struct output_settings settings = {
        .view.grouping = {{GROUP_NAME}},
        .event = "cpu",
        .comparison = &comparison,
    };
    struct small_profile small;
    char *page;

    (void)state;
    small_profile_make(&small);
    page = small_output_of(&small, &html_format, &settings);
    assert_non_null(strstr(page, "\"compares\": true, \"parts\": [{\"name\": \"old.bfr\", "
                                 "\"from\": 0, \"to\": 1500, "));
    assert_non_null(strstr(page, "{\"name\": \"new.bfr\", \"from\": 2000, \"to\": 2500, "));
    assert_non_null(strstr(page, "\"range\": {\"from\": 2000, \"to\": 2500}, "
                                 "\"against\": {\"from\": 0, \"to\": 1500}, "
                                 "\"per\": \"total\"}"));
    free(page);
}

static int ignore(void *context, const struct sample *sample, struct error *error)
{
    (void)context;
    (void)sample;
    (void)error;
    return 0;
}

/* Make `side` that of the small profile with this error of the time of event gc. */
static void read_side(struct comparison_side *side, uint64_t time_error)
{
    struct profile *profile = profile_new();
    struct small_profile small;
    struct recording *recording;
    struct error error;
    bool cut;

    small_profile_make(&small);
    small_profile_add_events(&small);
    small.summary.errors[0] = time_error;
    recording = recording_open(small_recording(&small), "test", &error);
    profile_free(small.profile);
    assert_non_null(recording);
    assert_int_equal(recording_read(recording, profile, ignore, NULL, &cut, &error), 0);
    side->recording = recording;
    side->profile = profile;
}

/* Return a comparison of event gc, whose time is known on side 0 only. */
static char *compared_gc(const struct output_format *format)
{
    struct comparison comparison = small_comparison(PER_TIME);
    struct output_settings settings = {
        .view.grouping = {{GROUP_NAME}},
        .event = "gc",
        .comparison = &comparison,
    };
    struct recording *recordings[2];
    struct profile *profiles[2];
    struct small_profile small;
    char *text;

    for (int side = 0; side < 2; side++) {
        read_side(&comparison.sides[side], side ? EVENT_ERROR_UNKNOWN : 100000);
        recordings[side] = (struct recording *)comparison.sides[side].recording;
        profiles[side] = (struct profile *)comparison.sides[side].profile;
    }
    small_profile_make(&small);
    small_profile_add_events(&small);
    text = small_output_of(&small, format, &settings);
    for (int side = 0; side < 2; side++) {
        recording_close(recordings[side]);
        profile_free(profiles[side]);
    }
    return text;
}

static void test_text_says_how_sure_the_total_of_each_side_is(void **state)
{
    char *text = compared_gc(&changes_format);

    (void)state;
    assert_non_null(
        strstr(text, " s; all hits of the recording: 4.60 ms +- 0.20 ms; 1,234 hits, 40.0 % of the "
                     "time covered in 13 windows, at 0.60 % of the VM's CPU time, 2 "
                     "samples lost\nafter "));
    assert_non_null(strstr(
        text, " s; all hits of the recording: 4.6 ms +- ? (windows are too few or too short: "
              "raise --budget or record longer); 1,234 hits, 40.0 %"));
    free(text);
}

static void test_page_has_the_summary_of_each_side(void **state)
{
    static const char *const sums =
        "\"windows\": 13, \"sums\": [4600000, 3085, 1000, 0, 0, 0], \"errors\": ";
    char *page = compared_gc(&html_format), *at = strstr(page, "\"summaries\": [{\"hits\": 1234");

    (void)state;
    for (int side = 0; side < 2; side++) {
        const char *errors = side ? "[null, 100, 0, 0, 0, 0]}]" : "[100000, 100, 0, 0, 0, 0]}, ";

        at = at ? strstr(at, sums) : NULL;
        assert_non_null(at);
        at += strlen(sums);
        assert_true(strstr(at, errors) == at);
    }
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scale_makes_durations_or_totals_equal),
        cmocka_unit_test(test_unknown_normalization_is_refused),
        cmocka_unit_test(test_text_has_both_sides_and_the_scale),
        cmocka_unit_test(test_change_beyond_the_noise_is_listed),
        cmocka_unit_test(test_table_can_be_sorted_by_self),
        cmocka_unit_test(test_unknown_order_is_refused),
        cmocka_unit_test(test_metric_changes_within_each_recording_only),
        cmocka_unit_test(test_folded_line_has_a_count_for_each_side),
        cmocka_unit_test(test_page_has_both_recordings_and_their_ranges),
        cmocka_unit_test(test_text_says_how_sure_the_total_of_each_side_is),
        cmocka_unit_test(test_page_has_the_summary_of_each_side),
    };

    return cmocka_run_group_tests_name("output_changes", tests, NULL, NULL);
}
