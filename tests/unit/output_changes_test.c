// SPDX-License-Identifier: Apache-2.0
/* Comparisons: the changes of functions, and the formats of a comparison. */
#include "small_output.h"

#include <math.h>

#include "output/changes/function_changes.h"

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
        .comparison = &comparison,
    };
    struct small_profile small;
    char *text;

    small_profile_make(&small);
    text = small_output_of(&small, format, &settings);
    assert_string_equal(text, expected);
    free(text);
}

static const struct function_change *find(const struct function_change *list, size_t count,
                                          const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i].name, name))
            return &list[i];
    return NULL;
}

static void add(struct function_changes *changes, int side, stack_id stack, double weight,
                int samples)
{
    for (int i = 0; i < samples; i++)
        function_changes_add(changes, side, stack, weight, 1);
}

/* A function that is in a stack twice counts once; a function without a change is not listed. */
static void test_function_twice_in_a_stack_counts_once(void **state)
{
    struct profile *p = profile_new();
    frame_id f = small_frame(p, "m:f/1", "", FRAME_ERLANG, 1);
    frame_id g = small_frame(p, "m:g/1", "", FRAME_ERLANG, 2);
    stack_id bottom = profile_stack(p, 0, f), middle = profile_stack(p, bottom, g);
    stack_id again = profile_stack(p, middle, f);
    struct function_changes changes = {0};
    const struct function_change *found;
    struct function_change *list;
    size_t count;

    (void)state;
    add(&changes, 0, bottom, 2, 300);
    add(&changes, 1, bottom, 2, 100);
    add(&changes, 0, again, 2, 100);
    add(&changes, 1, again, 2, 300);
    assert_true(changes.totals[0] == 800 && changes.totals[1] == 800);
    assert_true(changes.samples[0] == 400 && changes.samples[1] == 400);
    list = function_changes_list(&changes, p, 1, SORT_CHANGE, &count);
    assert_int_equal(count, 1); /* f is in every sample of both sides */
    assert_string_equal(list[0].name, "m:g/1");
    assert_true(list[0].total[0] == 200 && list[0].total[1] == 600 && list[0].change == 400);
    assert_true(list[0].self[0] == 0 && list[0].self[1] == 0);
    assert_true(fabs(list[0].noise - 1.96 * 2 * 20) < 1e-9); /* from 100 and 300 samples */
    free(list);
    list = function_changes_list(&changes, p, 2, SORT_CHANGE, &count);
    assert_int_equal(count, 2);
    found = find(list, count, "m:f/1");
    assert_ptr_equal(found, &list[0]);
    assert_true(found->total[0] == 1600 && found->change == -800);
    assert_true(found->self[0] == 1600 && found->self[1] == 800);
    free(list);
    function_changes_free(&changes);
    profile_free(p);
}

static void test_value_of_several_samples_has_their_noise(void **state)
{
    struct profile *p = profile_new();
    stack_id stack = profile_stack(p, 0, small_frame(p, "m:f/1", "", FRAME_ERLANG, 1));
    struct function_changes changes = {0};
    struct function_change *list;
    size_t count;

    (void)state;
    function_changes_add(&changes, 1, stack, 100, 100);
    assert_int_equal(changes.samples[1], 100);
    list = function_changes_list(&changes, p, 1, SORT_CHANGE, &count);
    assert_int_equal(count, 1);
    assert_true(fabs(list[0].noise - 1.96 * sqrt(101)) < 1e-9); /* no sample may as well be one */
    free(list);
    function_changes_free(&changes);
    profile_free(p);
}

static void test_release_is_a_negative_change(void **state)
{
    struct profile *p = profile_new();
    stack_id stack = profile_stack(p, 0, small_frame(p, "m:f/1", "", FRAME_ERLANG, 1));
    struct function_changes changes = {0};
    struct function_change *list;
    size_t count;

    (void)state;
    add(&changes, 0, stack, 5, 2);
    add(&changes, 1, stack, -3, 1);
    assert_true(changes.totals[1] == 3);
    list = function_changes_list(&changes, p, 1, SORT_CHANGE, &count);
    assert_int_equal(count, 1);
    assert_true(list[0].change == -13);
    free(list);
    function_changes_free(&changes);
    profile_free(p);
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
                 "        before           after          change           noise  without callees\n"
                 "      160.0 ms               0       -160.0 ms         80.8 ms               0  "
                 "proc_lib:init_p/5\n"
                 "      120.0 ms               0       -120.0 ms         70.7 ms       -120.0 ms  "
                 "erlang:+/2\n\n2 functions have not changed by more than chance explains\n");
}

/* Sorted by self, the columns and what chance explains are those of the function alone. */
static void test_table_can_be_sorted_by_self(void **state)
{
    (void)state;
    assert_table(SORT_SELF,
                 "        before           after          change           noise    with callees\n"
                 "      120.0 ms               0       -120.0 ms         70.7 ms       -120.0 ms  "
                 "erlang:+/2\n\n1 function has not changed by more than chance explains\n");
}

/* Functions that are heavy on either side come first, also if others have changed more. */
static void test_list_can_be_sorted_by_total(void **state)
{
    struct profile *p = profile_new();
    stack_id steady = profile_stack(p, 0, small_frame(p, "m:steady/1", "", FRAME_ERLANG, 1));
    stack_id changed = profile_stack(p, 0, small_frame(p, "m:changed/1", "", FRAME_ERLANG, 2));
    struct function_changes changes = {0};
    struct function_change *list;
    size_t count;

    (void)state;
    add(&changes, 0, steady, 10, 100);
    add(&changes, 1, steady, 10, 101);
    add(&changes, 0, changed, 10, 50);
    for (int sort = SORT_CHANGE; sort <= SORT_TOTAL; sort++) {
        list = function_changes_list(&changes, p, 1, (enum comparison_sort)sort, &count);
        assert_int_equal(count, 2);
        assert_string_equal(list[0].name, sort == SORT_TOTAL ? "m:steady/1" : "m:changed/1");
        free(list);
    }
    function_changes_free(&changes);
    profile_free(p);
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
        cmocka_unit_test(test_function_twice_in_a_stack_counts_once),
        cmocka_unit_test(test_release_is_a_negative_change),
        cmocka_unit_test(test_value_of_several_samples_has_their_noise),
        cmocka_unit_test(test_scale_makes_durations_or_totals_equal),
        cmocka_unit_test(test_unknown_normalization_is_refused),
        cmocka_unit_test(test_text_has_both_sides_and_the_scale),
        cmocka_unit_test(test_change_beyond_the_noise_is_listed),
        cmocka_unit_test(test_table_can_be_sorted_by_self),
        cmocka_unit_test(test_list_can_be_sorted_by_total),
        cmocka_unit_test(test_unknown_order_is_refused),
        cmocka_unit_test(test_metric_changes_within_each_recording_only),
        cmocka_unit_test(test_folded_line_has_a_count_for_each_side),
        cmocka_unit_test(test_page_has_both_recordings_and_their_ranges),
    };

    return cmocka_run_group_tests_name("output_changes", tests, NULL, NULL);
}
