// SPDX-License-Identifier: Apache-2.0
/* What grows, and the verdict that a summary begins with. The numbers of a verdict are checked
 * against the tables in output_summary_test.c. */
#include "small_output.h"

#include "output/summary/summary_internal.h"

#define MEGABYTE 1000000ull

static struct growth_range range_of(const uint64_t *values, size_t count)
{
    struct growth_range range = {0};

    for (size_t i = 0; i < count; i++)
        growth_range_add(&range, values[i]);
    return range;
}

/* A value that rises to its highest has grown; one that was high once, or is steady, has not. */
static void test_growth_ends_near_the_highest(void **state)
{
    static const uint64_t grows[] = {10, 200, 190, 500, 490}, high_once[] = {10, 500, 300};
    static const uint64_t steady[] = {5000, 5200, 5100, 5150}, falls[] = {500, 300, 10};
    const struct growth_range rise = range_of(grows, 5), peak = range_of(high_once, 3);
    const struct growth_range same = range_of(steady, 4), fall = range_of(falls, 3);

    (void)state;
    assert_int_equal(rise.fallen, 20);
    assert_true(growth_range_is_growth(&rise, 100));
    assert_false(growth_range_is_growth(&rise, 481));
    assert_false(growth_range_is_growth(&peak, 100));
    assert_false(growth_range_is_growth(&same, 100));
    assert_false(growth_range_is_growth(&fall, 0));
}

/* A heap that falls at each collection has not grown, even if the last sample is the highest. */
static void test_memory_that_is_released_has_not_grown(void **state)
{
    static const uint64_t saw[] = {1 * MEGABYTE,  20 * MEGABYTE, 2 * MEGABYTE,
                                   19 * MEGABYTE, 1 * MEGABYTE,  21 * MEGABYTE};
    static const uint64_t grows[] = {1 * MEGABYTE, 2 * MEGABYTE, 9 * MEGABYTE, 8 * MEGABYTE,
                                     21 * MEGABYTE};
    const struct growth_range sawtooth = range_of(saw, 6), rise = range_of(grows, 5);

    (void)state;
    assert_true(growth_range_is_growth(&sawtooth, MEGABYTE));
    assert_false(growth_range_is_growth_of_memory(&sawtooth));
    assert_true(growth_range_is_growth_of_memory(&rise));
}

static struct metrics heap_of(uint64_t words)
{
    struct metrics metrics = {0};

    metrics_set(&metrics, METRIC_YOUNG, words / 2);
    metrics_set(&metrics, METRIC_OLD, words / 2);
    return metrics;
}

/* The process that has grown most is found, once it has samples enough. */
static void test_process_that_grows_most_is_found(void **state)
{
    struct summary_growth growth = {0};

    (void)state;
    for (uint64_t i = 1; i <= 5; i++) {
        assert_int_equal(summary_growth_find(&growth, GROWTH_HEAPS), 0);
        for (uint32_t id = 1; id <= 3; id++) {
            struct metrics metrics = heap_of(i * MEGABYTE * (id == 2 ? 2 : 1));

            summary_growth_add(&growth, id, &metrics);
        }
    }
    assert_int_equal(summary_growth_find(&growth, GROWTH_HEAPS), 2);
    assert_int_equal(growth.of[2].kinds[GROWTH_HEAPS].last, 80 * MEGABYTE);
    assert_int_equal(summary_growth_find(&growth, GROWTH_BINARIES), 0);
    assert_int_equal(summary_growth_longest_queue(&growth), 0);
    summary_growth_free(&growth);
}

/* Return the verdict of the small profile, whose process has these queue lengths; free it. */
static char *verdict_of(struct small_profile *small, const uint64_t lengths[3],
                        struct output_settings *settings)
{
    static const int samples[] = {0, 1, 3}; /* of the process */
    char *text, *end;

    for (int i = 0; i < 3; i++)
        metrics_set(&small->samples[samples[i]].metrics, METRIC_MSGQ, lengths[i]);
    settings->view.grouping.keys[0] = GROUP_NAME;
    text = small_output_of(small, &summary_format, settings);
    end = strstr(text, "\n\n");
    assert_non_null(end);
    end[1] = '\0';
    return text;
}

static void assert_ends_with(char *text, const char *expected)
{
    const char *at = strstr(text, "\nfunction");

    assert_non_null(at);
    at = strchr(at + 1, '\n') + 1;
    assert_string_equal(at, expected);
    free(text);
}

/* A queue that grows is named, and the command shows the longest queues. */
static void test_queue_that_grows_leads_to_queues(void **state)
{
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    assert_ends_with(
        verdict_of(&small, (uint64_t[]){12, 700, 3400}, &(struct output_settings){0}),
        "grows     message queue of <0.85.0> cart: 12 at the first of 3 samples, 3,400 at the "
        "last\n"
        "next      sudo beamflame dump -p 100 --list processes --top 10:msgq    # the longest "
        "queues, and what their processes do\n");
}

/* A queue that does not grow is only named with its greatest length. */
static void test_queue_that_shrinks_is_no_growth(void **state)
{
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    assert_ends_with(verdict_of(&small, (uint64_t[]){3400, 700, 12}, &(struct output_settings){0}),
                     "queue     at most 3,400 messages at a sample: <0.85.0> cart\n"
                     "next      sudo beamflame -p 100 -d 30 -e wall --node-metrics "
                     "memory,tables,ports -o wall.svg    # what processes wait for, and what "
                     "grows\n");
}

/* The recording of a busy VM shows who calls its functions. Words are quoted for the shell. */
static void test_busy_vm_leads_to_its_recording(void **state)
{
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    for (int i = 0; i < SMALL_SAMPLES; i++) { /* one scheduler, always busy */
        small.samples[i].microstate = MICROSTATE_EMULATOR;
        small.samples[i].values[CPU_TIME] = 600000000;
    }
    assert_ends_with(
        verdict_of(&small, (uint64_t[]){0, 0, 0}, &(struct output_settings){.path = "it's x.bfr"}),
        "next      beamflame report 'it'\\''s x.bfr' -e cpu --process '<0.85.0>' -o "
        "cpu.svg    # who calls its functions\n");
}

/* If samples are left out, no line is about the time of schedulers. */
static void test_selected_samples_have_no_busy_schedulers(void **state)
{
    struct output_settings settings = {.selection.from_ns = 1500000000};
    struct small_profile small;
    char *text;

    (void)state;
    small_profile_make(&small);
    text = verdict_of(&small, (uint64_t[]){0, 0, 0}, &settings);
    assert_memory_equal(text, "process   100.0 % of the CPU time (10.0 ms, 1 sample)", 50);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth_ends_near_the_highest),
        cmocka_unit_test(test_memory_that_is_released_has_not_grown),
        cmocka_unit_test(test_process_that_grows_most_is_found),
        cmocka_unit_test(test_queue_that_grows_leads_to_queues),
        cmocka_unit_test(test_queue_that_shrinks_is_no_growth),
        cmocka_unit_test(test_busy_vm_leads_to_its_recording),
        cmocka_unit_test(test_selected_samples_have_no_busy_schedulers),
    };

    return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
