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

static struct function_change *list_of(const struct function_changes *changes,
                                       const struct profile *profile, double scale,
                                       enum comparison_sort sort, size_t *ret_count)
{
    const struct change_options options = {.scale = scale, .sort = sort};

    return function_changes_list(changes, profile, &options, ret_count);
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
    list = list_of(&changes, p, 1, SORT_CHANGE, &count);
    assert_int_equal(count, 1); /* f is in every sample of both sides */
    assert_string_equal(list[0].name, "m:g/1");
    assert_true(list[0].total[0] == 200 && list[0].total[1] == 600 && list[0].change == 400);
    assert_true(list[0].self[0] == 0 && list[0].self[1] == 0);
    /* Upper limits of 100 and 300 samples of weight 2: 121.6 and 335.9. */
    assert_true(fabs(list[0].noise - 2 * hypot(21.6, 35.9)) < 0.5);
    free(list);
    list = list_of(&changes, p, 2, SORT_CHANGE, &count);
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
    list = list_of(&changes, p, 1, SORT_CHANGE, &count);
    assert_int_equal(count, 1);
    /* The upper limits are 121.6 of 100 samples, and 3.69 of none. */
    assert_true(fabs(list[0].noise - hypot(21.6, 3.69)) < 0.1);
    free(list);
    function_changes_free(&changes);
    profile_free(p);
}

static struct function_change *noise_of_one(struct function_changes *changes,
                                            const struct profile *p,
                                            const struct change_options *options)
{
    struct function_change *list;
    size_t count;

    list = function_changes_list(changes, p, options, &count);
    assert_int_equal(count, 1);
    return list;
}

/* Windows cover a tenth of the first side, and all of the second. Of a function with 9 hits of 2 in
 * the second, the first may have had 3.69, of 20 each. The upper limit of 9 is 17.1. */
static void test_side_without_samples_has_the_noise_of_its_own_windows(void **state)
{
    struct change_options options = {.scale = 1, .represents = {10, 1}};
    struct profile *p = profile_new();
    stack_id stack = profile_stack(p, 0, small_frame(p, "m:f/1", "", FRAME_ERLANG, 1));
    struct function_changes changes = {0};
    struct function_change *list;

    (void)state;
    add(&changes, 1, stack, 2, 9);
    list = noise_of_one(&changes, p, &options);
    assert_true(fabs(list[0].noise - hypot(3.69 * 20, 8.1 * 2)) < 0.5);
    free(list);
    options.represents[0] = 1;
    list = noise_of_one(&changes, p, &options);
    assert_true(fabs(list[0].noise - hypot(3.69 * 2, 8.1 * 2)) < 0.3);
    free(list);
    options.scale = 5;
    list = noise_of_one(&changes, p, &options);
    assert_true(fabs(list[0].noise - hypot(3.69 * 10, 8.1 * 2)) < 0.4);
    free(list);
    function_changes_free(&changes);
    profile_free(p);
}

/* Of two recordings at other frequencies, a sample weighs what the others of its side weigh. */
static void test_side_without_samples_has_the_weight_of_its_others(void **state)
{
    const struct change_options options = {.scale = 1};
    struct profile *p = profile_new();
    stack_id common = profile_stack(p, 0, small_frame(p, "m:f/1", "", FRAME_ERLANG, 1));
    stack_id new = profile_stack(p, 0, small_frame(p, "m:g/1", "", FRAME_ERLANG, 2));
    struct function_changes changes = {0};
    const struct function_change *found;
    struct function_change *list;
    size_t count;

    (void)state;
    add(&changes, 0, common, 10, 50);
    add(&changes, 1, common, 1, 490);
    add(&changes, 1, new, 1, 9);
    list = function_changes_list(&changes, p, &options, &count);
    found = find(list, count, "m:g/1");
    assert_true(fabs(found->noise - hypot(3.69 * 10, 8.1)) < 0.4);
    free(list);
    function_changes_free(&changes);
    profile_free(p);
}

/* Both sides have 400 samples, of which a function has 100 and 200. By weight, the upper limits are
 * 121.6 and 229.7. By share, the variances are those of a binomial distribution, 75 and 100: as of
 * 133 and 400 samples, whose upper limits are 157.9 and 441.2. The second total has an error
 * of 41.2 of 400. */
static void test_noise_of_shares_has_the_error_of_the_total(void **state)
{
    struct change_options options = {.scale = 1};
    struct profile *p = profile_new();
    stack_id f = profile_stack(p, 0, small_frame(p, "m:f/1", "", FRAME_ERLANG, 1));
    stack_id g = profile_stack(p, 0, small_frame(p, "m:g/1", "", FRAME_ERLANG, 2));
    struct function_changes changes = {0};
    struct function_change *list;
    size_t count;

    (void)state;
    add(&changes, 0, f, 1, 100);
    add(&changes, 0, g, 1, 300);
    add(&changes, 1, f, 1, 200);
    add(&changes, 1, g, 1, 200);
    list = function_changes_list(&changes, p, &options, &count);
    assert_true(fabs(find(list, count, "m:f/1")->noise - hypot(21.6, 29.7)) < 0.3);
    free(list);
    options.by_share = true;
    list = function_changes_list(&changes, p, &options, &count);
    assert_true(fabs(find(list, count, "m:f/1")->noise -
                     hypot(hypot(100 * 24.6 / 133.3, 200 * 41.2 / 400), 100 * 41.2 / 400)) < 0.3);
    free(list);
    function_changes_free(&changes);
    profile_free(p);
}

enum { NOTED = 40 };

/* Add a sample of 10 to each of 40 windows of a side, which cover a tenth of the time. The total is
 * known to `half`. */
static void add_windows(struct function_changes *changes, const struct profile *p, int side,
                        stack_id stack, double half, struct change_options *options)
{
    const struct event_summary summary = {.event = 1,
                                          .hits = NOTED,
                                          .span_ns = 10000000000,
                                          .covered_ns = 1000000000,
                                          .windows = NOTED,
                                          .sums = {400},
                                          .errors = {(uint64_t)(half / 1.96)}};

    for (uint64_t i = 0; i < NOTED; i++) {
        const struct sample sample = {.time = i * 250000000, .stack = stack, .values = {10}};

        function_changes_note(changes, p, side, &sample, 0);
        function_changes_add(changes, side, stack, 10, 1);
    }
    options->covers[side] = row_cover_of(&changes->wholes[side], &summary, 0, false);
    options->represents[side] = 10;
}

/* By weight, a function that has all of both sides is as sure as the totals: 196 and 294. By share,
 * there is no change. Where the total of a side is unknown, so is the change. */
static void test_noise_has_the_errors_of_both_totals(void **state)
{
    struct change_options options = {.scale = 0.5};
    struct profile *p = profile_new();
    stack_id stack = profile_stack(p, 0, small_frame(p, "m:f/1", "", FRAME_ERLANG, 1));
    struct function_changes changes = {0};
    struct function_change *list;

    (void)state;
    add_windows(&changes, p, 0, stack, 196 * 2, &options);
    add_windows(&changes, p, 1, stack, 294, &options);
    list = noise_of_one(&changes, p, &options);
    assert_true(fabs(list[0].change - 200) < 1e-9);
    assert_true(fabs(list[0].noise - hypot(196, 294)) < 2);
    free(list);
    options.by_share = true;
    list = noise_of_one(&changes, p, &options);
    assert_true(fabs(list[0].noise - 200 * 294.0 / 400) < 1);
    free(list);
    options.by_share = false;
    options.covers[1].half = NAN;
    list = noise_of_one(&changes, p, &options);
    assert_true(isinf(list[0].noise));
    free(list);
    function_changes_free(&changes);
    profile_free(p);
}

/* Two samples of one hit, of 30 and 10, are one of 40 for the functions that both have. Of 9 such
 * hits the upper limit is 17.1, and the other side may have had 3.69 samples of 20. */
static void test_parts_of_a_hit_have_the_noise_of_one_sample(void **state)
{
    const struct change_options options = {.scale = 1, .represents = {1, 1}};
    struct profile *p = profile_new();
    stack_id stack = profile_stack(p, 0, small_frame(p, "m:f/1", "", FRAME_ERLANG, 1));
    struct function_changes changes = {.wholes = {{.has_parts = true}, {.has_parts = true}}};
    struct sample parts[2] = {{.process = 1, .values = {30}}, {.process = 1, .values = {10}}};
    struct function_change *list;
    size_t count;

    (void)state;
    parts[0].stack = profile_stack(p, stack, small_frame(p, "[waiting]", "", FRAME_MARK, 0));
    parts[1].stack = profile_stack(p, stack, small_frame(p, "[runnable]", "", FRAME_MARK, 0));
    for (int i = 0; i < 18; i++) {
        parts[i % 2].time = (uint64_t)(i / 2) * 1000000;
        function_changes_note(&changes, p, 1, &parts[i % 2], 0);
        function_changes_add(&changes, 1, parts[i % 2].stack, (double)parts[i % 2].values[0], 1);
    }
    list = function_changes_list(&changes, p, &options, &count);
    assert_true(fabs(find(list, count, "m:f/1")->noise - hypot(8.1 * 40, 3.69 * 20)) < 3);
    assert_true(fabs(find(list, count, "[waiting]")->noise - hypot(8.1 * 30, 3.69 * 30)) < 3);
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
    list = list_of(&changes, p, 1, SORT_CHANGE, &count);
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
                 "      160.0 ms               0       -160.0 ms        106.4 ms               0  "
                 "proc_lib:init_p/5\n"
                 "      120.0 ms               0       -120.0 ms         96.8 ms       -120.0 ms  "
                 "erlang:+/2\n\n2 functions have not changed by more than chance explains\n");
}

/* Sorted by self, the columns and what chance explains are those of the function alone. */
static void test_table_can_be_sorted_by_self(void **state)
{
    (void)state;
    assert_table(SORT_SELF,
                 "        before           after          change           noise    with callees\n"
                 "      120.0 ms               0       -120.0 ms         96.8 ms       -120.0 ms  "
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
        list = list_of(&changes, p, 1, (enum comparison_sort)sort, &count);
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
        cmocka_unit_test(test_side_without_samples_has_the_noise_of_its_own_windows),
        cmocka_unit_test(test_side_without_samples_has_the_weight_of_its_others),
        cmocka_unit_test(test_noise_of_shares_has_the_error_of_the_total),
        cmocka_unit_test(test_noise_has_the_errors_of_both_totals),
        cmocka_unit_test(test_parts_of_a_hit_have_the_noise_of_one_sample),
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
