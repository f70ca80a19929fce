// SPDX-License-Identifier: Apache-2.0
/* speedscope's format: one profile for each thread, and for each selected process. */
#include "small_output.h"

#define HEAD                                                                                       \
    "{\n\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"                     \
    "\"exporter\":\"beamflame 0.1.0\",\n\"name\":\"beamflame -p 100\",\n\"profiles\":[\n"

/* Equal neighbours are merged. The axis is the time that passed: a sample stands for the time
 * before it, and time without samples has an empty stack. */
static void test_equal_neighbours_of_a_thread_are_merged(void **state)
{
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    small.samples[1] = small.samples[0];
    small.samples[2].thread = 0;
    assert_output(&small, &speedscope_format,
                  HEAD "{\n\"type\":\"sampled\",\n\"name\":\"scheduler 1\",\n"
                       "\"unit\":\"nanoseconds\",\n\"startValue\":0,\n\"endValue\":1010000000,\n"
                       "\"samples\":[\n[0,1,2],\n[],\n[0,1,2]\n],\n"
                       "\"weights\":[20000000,980000000,10000000]\n},\n"
                       "{\n\"type\":\"sampled\",\n\"name\":\"on no scheduler\",\n"
                       "\"unit\":\"nanoseconds\",\n\"startValue\":0,\n\"endValue\":10000000,\n"
                       "\"samples\":[\n[3,4]\n],\n\"weights\":[10000000]\n}\n],\n"
                       "\"shared\":{\"frames\":[\n{\"name\":\"cart\"},\n"
                       "{\"name\":\"proc_lib:init_p/5\"},\n{\"name\":\"erlang:+/2\"},\n"
                       "{\"name\":\"[scheduler] busy-wait\"},\n{\"name\":\"spin\"}\n]}\n}\n");
}

/* A process that gets a name later is one process, and its profile has only its own samples. */
static void test_renamed_process_has_one_profile(void **state)
{
    const char *who[] = {"<0.85.0>"};
    struct output_settings settings = {
        .view.grouping = {{GROUP_NAME}},
        .selection.processes = {who, 1},
    };
    struct small_profile small;
    struct process_entry named;
    char *text;

    (void)state;
    small_profile_make(&small);
    named = *profile_get_process(small.profile, 1);
    named.label = profile_string_z(small.profile, "labelled");
    small.samples[3].process = profile_process(small.profile, &named);
    text = small_output_of(&small, &speedscope_format, &settings);
    assert_non_null(strstr(text, "\"name\":\"scheduler 1\""));
    assert_non_null(strstr(text, "\"name\":\"<0.85.0> cart\",\n\"unit\":\"nanoseconds\",\n"
                                 "\"startValue\":0,\n\"endValue\":1010000000,\n"
                                 "\"samples\":[\n[0,1,2],\n[0,1,3,4],\n[],\n[0,1,2]\n],\n"
                                 "\"weights\":[10000000,10000000,980000000,10000000]\n}\n],"));
    assert_null(strstr(text, "busy-wait"));
    free(text);
}

/* Tracks begin together: a later one has time without samples first. Samples whose scaled time
 * exceeds the time between them follow each other; no time is lost. */
static void test_tracks_begin_together(void **state)
{
    struct small_profile small;
    struct thread_entry other;
    char *text;

    (void)state;
    small_profile_make(&small);
    other = *profile_get_thread(small.profile, small.samples[0].thread);
    other.scheduler_number = 2;
    other.tid = 103;
    small.samples[3].thread = profile_thread(small.profile, &other);
    small.samples[1].values[0] = 15000000;
    small.samples[3].stack = 0;
    text = small_output(&small, &speedscope_format,
                        &(struct view_options){.grouping = {{GROUP_NONE}}});
    assert_non_null(strstr(text, "\"weights\":[10000000,15000000,10000000]"));
    assert_non_null(strstr(text, "\"name\":\"scheduler 2\",\n\"unit\":\"nanoseconds\",\n"
                                 "\"startValue\":0,\n\"endValue\":1010000000,\n"
                                 "\"samples\":[\n[],\n[6]\n],\n"
                                 "\"weights\":[1000000000,10000000]"));
    assert_non_null(strstr(text, "{\"name\":\"[no stack]\"}\n]}"));
    free(text);
}

/* A weight that is not time has unit "none". */
static void test_weight_that_is_not_time_has_no_unit(void **state)
{
    struct output_settings settings = {.view.grouping = {{GROUP_NAME}}, .value = "heap"};
    struct small_profile small;
    char *text;

    (void)state;
    small_profile_make(&small);
    text = small_output_of(&small, &speedscope_format, &settings);
    assert_non_null(strstr(text, "\"unit\":\"none\",\n\"startValue\":0,\n\"endValue\":2600,"));
    assert_non_null(strstr(text, "\"weights\":[2600]"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_neighbours_of_a_thread_are_merged),
        cmocka_unit_test(test_renamed_process_has_one_profile),
        cmocka_unit_test(test_tracks_begin_together),
        cmocka_unit_test(test_weight_that_is_not_time_has_no_unit),
    };

    return cmocka_run_group_tests_name("output_speedscope", tests, NULL, NULL);
}
