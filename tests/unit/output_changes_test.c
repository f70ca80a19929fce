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
        "cpu, time\n  before  old.bfr: 30.0 ms in 3 samples, 1.5 s\n  after   new.bfr: 10.0 ms in "
        "1 "
        "samples, 0.5 s\nbefore is multiplied by 0.3333, to the duration of the second\n\n5 "
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
                 "erlang:+/2\n\n2 functions have not changed by more than chance explains\n");
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
                 "erlang:+/2\n\n1 function has not changed by more than chance explains\n");
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
                                 "  before  old.bfr: 100 words in 1 samples, 1.5 s\n"
                                 "  after   new.bfr: 0 in 0 samples, 0.5 s\n"));
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
    };

    return cmocka_run_group_tests_name("output_changes", tests, NULL, NULL);
}
