// SPDX-License-Identifier: Apache-2.0
/* The changes of functions between two sides, and how much of a change is noise. */
#include "small_output.h"

#include <math.h>

#include "output/changes/changes.h"

/* Each test begins with: no change, and the stacks of two functions, m:f/1 and m:g/1. */
static struct profile *profile;
static struct function_changes changes;
static stack_id f, g;
static size_t left_out; /* of the last list */

static int set_up(void **state)
{
    (void)state;
    profile = profile_new();
    changes = (struct function_changes){0};
    f = profile_stack(profile, 0, small_frame(profile, "m:f/1", "", FRAME_ERLANG, 1));
    g = profile_stack(profile, 0, small_frame(profile, "m:g/1", "", FRAME_ERLANG, 2));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    function_changes_free(&changes);
    profile_free(profile);
    return 0;
}

static const struct function_change *find(const struct function_change *list, size_t count,
                                          const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i].name, name))
            return &list[i];
    return NULL;
}

static void add(int side, stack_id stack, double weight, int samples)
{
    for (int i = 0; i < samples; i++)
        function_changes_add(&changes, side, stack, weight, 1);
}

static struct function_change *list_of(double scale, enum comparison_sort sort, size_t *ret_count)
{
    const struct change_options options = {.scale = scale, .sort = sort};

    return function_changes_list(&changes, profile, &options, ret_count, &left_out);
}

/* A function that is in a stack twice counts once; a function without a change is not listed. */
static void test_function_twice_in_a_stack_counts_once(void **state)
{
    frame_id frame_f = small_frame(profile, "m:f/1", "", FRAME_ERLANG, 1);
    frame_id frame_g = small_frame(profile, "m:g/1", "", FRAME_ERLANG, 2);
    stack_id again = profile_stack(profile, profile_stack(profile, f, frame_g), frame_f);
    const struct function_change *found;
    struct function_change *list;
    size_t count;

    (void)state;
    add(0, f, 2, 300);
    add(1, f, 2, 100);
    add(0, again, 2, 100);
    add(1, again, 2, 300);
    assert_true(changes.totals[0] == 800 && changes.totals[1] == 800);
    assert_true(changes.samples[0] == 400 && changes.samples[1] == 400);
    list = list_of(1, SORT_CHANGE, &count);
    assert_int_equal(count, 1); /* f is in every sample of both sides */
    assert_string_equal(list[0].name, "m:g/1");
    assert_true(list[0].total[0] == 200 && list[0].total[1] == 600 && list[0].change == 400);
    assert_true(list[0].self[0] == 0 && list[0].self[1] == 0);
    /* Upper limits of 100 and 300 samples of weight 2: 121.6 and 335.9. */
    assert_true(fabs(list[0].noise - 2 * hypot(21.6, 35.9)) < 0.5);
    free(list);
    list = list_of(2, SORT_CHANGE, &count);
    assert_int_equal(count, 2);
    found = find(list, count, "m:f/1");
    assert_ptr_equal(found, &list[0]);
    assert_true(found->total[0] == 1600 && found->change == -800);
    assert_true(found->self[0] == 1600 && found->self[1] == 800);
    free(list);
}

static void test_value_of_several_samples_has_their_noise(void **state)
{
    struct function_change *list;
    size_t count;

    (void)state;
    function_changes_add(&changes, 1, f, 100, 100);
    assert_int_equal(changes.samples[1], 100);
    list = list_of(1, SORT_CHANGE, &count);
    assert_int_equal(count, 1);
    /* The upper limits are 121.6 of 100 samples, and 3.69 of none. */
    assert_true(fabs(list[0].noise - hypot(21.6, 3.69)) < 0.1);
    free(list);
}

static struct function_change *noise_of_one(const struct change_options *options)
{
    size_t count;
    struct function_change *list =
        function_changes_list(&changes, profile, options, &count, &left_out);

    assert_int_equal(count, 1);
    return list;
}

/* Windows cover a tenth of the first side, and all of the second. Of a function with 9 hits of 2 in
 * the second, the first may have had 3.69, of 20 each. The upper limit of 9 is 17.1. */
static void test_side_without_samples_has_the_noise_of_its_own_windows(void **state)
{
    struct change_options options = {.scale = 1, .represents = {10, 1}};
    struct function_change *list;

    (void)state;
    add(1, f, 2, 9);
    list = noise_of_one(&options);
    assert_true(fabs(list[0].noise - hypot(3.69 * 20, 8.1 * 2)) < 0.5);
    free(list);
    options.represents[0] = 1;
    list = noise_of_one(&options);
    assert_true(fabs(list[0].noise - hypot(3.69 * 2, 8.1 * 2)) < 0.3);
    free(list);
    options.scale = 5;
    list = noise_of_one(&options);
    assert_true(fabs(list[0].noise - hypot(3.69 * 10, 8.1 * 2)) < 0.4);
    free(list);
}

/* If two recordings have different frequencies, all samples of a side weigh the same. */
static void test_side_without_samples_has_the_weight_of_its_others(void **state)
{
    const struct change_options options = {.scale = 1};
    const struct function_change *found;
    struct function_change *list;
    size_t count;

    (void)state;
    add(0, f, 10, 50);
    add(1, f, 1, 490);
    add(1, g, 1, 9);
    list = function_changes_list(&changes, profile, &options, &count, &left_out);
    found = find(list, count, "m:g/1");
    assert_true(fabs(found->noise - hypot(3.69 * 10, 8.1)) < 0.4);
    free(list);
}

/* Both sides have 400 samples; a function has 100 and 200 of them. By weight, the upper limits are
 * 121.6 and 229.7. By share, the variances are those of a binomial distribution, 75 and 100: as of
 * 133 and 400 samples, whose upper limits are 157.9 and 441.2. The second total has an error of
 * 41.2 of 400. */
static void test_noise_of_shares_has_the_error_of_the_total(void **state)
{
    struct change_options options = {.scale = 1};
    struct function_change *list;
    size_t count;

    (void)state;
    add(0, f, 1, 100);
    add(0, g, 1, 300);
    add(1, f, 1, 200);
    add(1, g, 1, 200);
    list = function_changes_list(&changes, profile, &options, &count, &left_out);
    assert_true(fabs(find(list, count, "m:f/1")->noise - hypot(21.6, 29.7)) < 0.3);
    free(list);
    options.by_share = true;
    list = function_changes_list(&changes, profile, &options, &count, &left_out);
    assert_true(fabs(find(list, count, "m:f/1")->noise -
                     hypot(hypot(100 * 24.6 / 133.3, 200 * 41.2 / 400), 100 * 41.2 / 400)) < 0.3);
    free(list);
}

enum { NOTED = 40 };

/* Add a sample of 10 to each of 40 windows of a side, which cover a tenth of the time. The total is
 * known to `half`. */
static void add_windows(int side, double half, struct change_options *options)
{
    const struct event_summary summary = {.event = 1,
                                          .hits = NOTED,
                                          .span_ns = 10000000000,
                                          .covered_ns = 1000000000,
                                          .windows = NOTED,
                                          .sums = {400},
                                          .errors = {(uint64_t)(half / 1.96)}};

    for (uint64_t i = 0; i < NOTED; i++) {
        const struct sample sample = {.time = i * 250000000, .stack = f, .values = {10}};

        function_changes_note(&changes, profile, side, &sample, 0);
        function_changes_add(&changes, side, f, 10, 1);
    }
    options->covers[side] = row_interval_cover(&changes.wholes[side], &summary, 0, false);
    options->represents[side] = 10;
}

/* By weight, a function that has all of both sides is as sure as the totals: 196 and 294. By share,
 * there is no change. Where the total of a side is unknown, so is the change. */
static void test_noise_has_the_errors_of_both_totals(void **state)
{
    struct change_options options = {.scale = 0.5};
    struct function_change *list;

    (void)state;
    add_windows(0, 196 * 2, &options);
    add_windows(1, 294, &options);
    list = noise_of_one(&options);
    assert_true(fabs(list[0].change - 200) < 1e-9);
    assert_true(fabs(list[0].noise - hypot(196, 294)) < 2);
    free(list);
    options.by_share = true;
    list = noise_of_one(&options);
    assert_true(fabs(list[0].noise - 200 * 294.0 / 400) < 1);
    free(list);
    options.by_share = false;
    options.covers[1].half = NAN;
    list = noise_of_one(&options);
    assert_true(isinf(list[0].noise));
    free(list);
}

/* Two samples of one hit, of 30 and 10, are one of 40 for the functions that both have. Of 9 such
 * hits the upper limit is 17.1, and the other side may have had 3.69 samples of 20. */
static void test_parts_of_a_hit_have_the_noise_of_one_sample(void **state)
{
    const struct change_options options = {.scale = 1, .represents = {1, 1}};
    struct sample parts[2] = {{.process = 1, .values = {30}}, {.process = 1, .values = {10}}};
    struct function_change *list;
    size_t count;

    (void)state;
    changes.wholes[0].has_parts = changes.wholes[1].has_parts = true;
    parts[0].stack =
        profile_stack(profile, f, small_frame(profile, "[waiting]", "", FRAME_MARK, 0));
    parts[1].stack =
        profile_stack(profile, f, small_frame(profile, "[runnable]", "", FRAME_MARK, 0));
    for (int i = 0; i < 18; i++) {
        parts[i % 2].time = (uint64_t)(i / 2) * 1000000;
        function_changes_note(&changes, profile, 1, &parts[i % 2], 0);
        function_changes_add(&changes, 1, parts[i % 2].stack, (double)parts[i % 2].values[0], 1);
    }
    list = function_changes_list(&changes, profile, &options, &count, &left_out);
    assert_true(fabs(find(list, count, "m:f/1")->noise - hypot(8.1 * 40, 3.69 * 20)) < 3);
    assert_true(fabs(find(list, count, "[waiting]")->noise - hypot(8.1 * 30, 3.69 * 30)) < 3);
    free(list);
}

static void test_release_is_a_negative_change(void **state)
{
    struct function_change *list;
    size_t count;

    (void)state;
    add(0, f, 5, 2);
    add(1, f, -3, 1);
    assert_true(changes.totals[1] == 3);
    list = list_of(1, SORT_CHANGE, &count);
    assert_int_equal(count, 1);
    assert_true(list[0].change == -13);
    free(list);
}

/* Functions that are heavy on either side come first, also if others have changed more. */
static void test_list_can_be_sorted_by_total(void **state)
{
    struct function_change *list;
    size_t count;

    (void)state;
    add(0, f, 10, 100);
    add(1, f, 10, 101);
    add(0, g, 10, 50);
    for (int sort = SORT_CHANGE; sort <= SORT_TOTAL; sort++) {
        list = list_of(1, (enum comparison_sort)sort, &count);
        assert_int_equal(count, 2);
        assert_string_equal(list[0].name, sort == SORT_TOTAL ? "m:f/1" : "m:g/1");
        free(list);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* The stack of a native function without a name, in a build of the VM ("": not known). */
static stack_id nameless(const char *build, const char *symbol)
{
    const struct module module = {.path = profile_string_z(profile, "/usr/bin/beam.smp"),
                                  .build_id = profile_string_z(profile, build)};

    return profile_stack(
        profile, 0,
        profile_frame(profile, &(struct frame){.symbol = profile_string_z(profile, symbol),
                                               .module = profile_module(profile, &module),
                                               .kind = FRAME_NATIVE,
                                               .unresolved = 1}));
}

/* A native function without a name is compared if both sides have the same build of its file, and
 * left out if the builds differ or are not known: an offset in another build is another function.
 */
static void test_nameless_functions_are_compared_within_a_build(void **state)
{
    struct function_change *list;
    size_t count;

    (void)state;
    add(0, f, 1, 100);
    add(0, nameless("aa", "beam.smp+0x10"), 1, 100);
    add(1, nameless("aa", "beam.smp+0x10"), 1, 300);
    add(0, nameless("aa", "beam.smp+0x20"), 1, 100);
    add(0, nameless("bb", "beam.smp+0x10"), 1, 100);
    add(1, nameless("cc", "beam.smp+0x10"), 1, 100);
    add(0, nameless("", "beam.smp+0x30"), 1, 100);
    add(1, nameless("", "beam.smp+0x30"), 1, 300);
    list = list_of(1, SORT_CHANGE, &count);
    assert_int_equal(count, 3); /* those of build aa, and f */
    assert_int_equal(left_out, 3);
    assert_true(find(list, count, "beam.smp+0x10")->change == 200);
    assert_true(find(list, count, "beam.smp+0x20")->change == -100);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_function_twice_in_a_stack_counts_once),
        TEST(test_value_of_several_samples_has_their_noise),
        TEST(test_side_without_samples_has_the_noise_of_its_own_windows),
        TEST(test_side_without_samples_has_the_weight_of_its_others),
        TEST(test_noise_of_shares_has_the_error_of_the_total),
        TEST(test_noise_has_the_errors_of_both_totals),
        TEST(test_parts_of_a_hit_have_the_noise_of_one_sample),
        TEST(test_release_is_a_negative_change),
        TEST(test_list_can_be_sorted_by_total),
        TEST(test_nameless_functions_are_compared_within_a_build),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
