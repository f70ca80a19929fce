// SPDX-License-Identifier: Apache-2.0
/* Idle processes of event wall in each format. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "small_output.h"

static const char LEFT_OUT[] = "90.0 % of the time is idle: left out, --idle shows it";

/* Turn samples 1 and 3 into samples of event wall: 90 ms idle, 10 ms blocked. */
static void make(struct small_profile *small, enum process_status other)
{
    event_id wall;

    small_profile_make(small);
    wall = event_define(small->profile, EVENT_WALL);
    for (int i = 1; i < SMALL_SAMPLES; i += 2) {
        struct sample *sample = &small->samples[i];

        sample->event = wall;
        sample->status = (uint8_t)(i == 1 ? STATUS_IDLE : other);
        memset(sample->values, 0, sizeof(sample->values));
        sample->values[WALL_TIME] = i == 1 ? 90000000 : 10000000;
        sample->values[WALL_COUNT] = 1;
        metrics_set(&sample->metrics, METRIC_HEAP, 1000);
    }
}

/* Event wall in a format, grouped by status. */
static char *shown(const struct output_format *format, const struct output_settings *settings,
                   enum process_status other)
{
    struct output_settings grouped = *settings;
    struct small_profile small;

    make(&small, other);
    grouped.event = EVENT_WALL;
    grouped.view.grouping = (struct grouping){{GROUP_STATUS}};
    return small_output_of(&small, format, &grouped);
}

static void assert_shows(const struct output_format *format, const struct output_settings *settings,
                         const char *text, bool expected)
{
    char *output = shown(format, settings, STATUS_BLOCKED);

    if ((strstr(output, text) != NULL) != expected)
        fail_msg("%s %s '%s':\n%s", format->name, expected ? "lacks" : "has", text, output);
    free(output);
}

static void test_graphs_leave_idle_processes_out(void **state)
{
    static const struct output_format *const graphs[] = {
        &svg_format,
        &folded_format,
        &speedscope_format,
        &callgrind_format,
    };
    const struct output_settings settings = {.event = NULL}, with_idle = {.idle = true};
    struct selection_options waiting = {.statuses = 0};
    struct error error;

    (void)state;
    assert_int_equal(selection_add_statuses(&waiting, "waiting", &error), 0);
    for (size_t i = 0; i < sizeof(graphs) / sizeof(*graphs); i++) {
        assert_shows(graphs[i], &settings, "[idle]", false);
        assert_shows(graphs[i], &settings, "[blocked]", true);
        assert_shows(graphs[i], &with_idle, "[idle]", true);
        assert_shows(graphs[i], &(struct output_settings){.selection = waiting}, "[idle]", true);
    }
}

static void test_lists_of_samples_have_idle_processes(void **state)
{
    static const struct output_format *const lists[] = {&perf_format, &json_format};
    const struct output_settings settings = {.event = NULL};

    (void)state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
        assert_shows(lists[i], &settings, "idle", true);
}

/* The time that a metric was taken at says nothing of the metric. */
static void test_metrics_count_idle_processes(void **state)
{
    (void)state;
    assert_shows(&folded_format, &(struct output_settings){.value = "heap"}, "[idle]", true);
    assert_shows(&folded_format, &(struct output_settings){.value = "samples"}, "[idle]", false);
    assert_shows(&folded_format, &(struct output_settings){.value = "count"}, "[idle]", false);
}

static void test_what_is_left_out_is_reported(void **state)
{
    static const struct output_format *const formats[] = {
        &svg_format,
        &text_format,
        &summary_format,
    };
    const struct output_settings settings = {.event = NULL}, with_idle = {.idle = true};

    (void)state;
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        assert_shows(formats[i], &settings, LEFT_OUT, true);
        assert_shows(formats[i], &with_idle, "idle: left out", false);
    }
}

/* The table of statuses has all of the time, the table of functions only time that is not idle. */
static void test_tables_share_the_time_that_is_not_idle(void **state)
{
    char *text = shown(&text_format, &(struct output_settings){.event = NULL}, STATUS_BLOCKED);

    (void)state;
    assert_non_null(strstr(text, "\ncall sites, without idle processes, of wall by time\n"
                                 "           10.0 ms 100.0 %  "));
    assert_non_null(strstr(text, "           90.0 ms  90.0 %          1 sample   idle\n"));
    assert_non_null(strstr(text, "           10.0 ms  10.0 %          1 sample   blocked\n"));
    assert_non_null(strstr(text, "\nfunctions of wall by time, of 10.0 ms\n"));
    free(text);
}

/* A graph is written, though it is empty. */
static void test_graph_of_idle_processes_alone_says_so(void **state)
{
    char *text = shown(&svg_format, &(struct output_settings){.event = NULL}, STATUS_IDLE);

    (void)state;
    assert_non_null(strstr(text, "100.0 % of the time is idle: left out"));
    assert_non_null(strstr(text, "</svg>"));
    free(text);
}

/* Events beside wall have no idle processes that hide others. */
static void test_other_events_keep_idle_processes(void **state)
{
    struct small_profile small;
    char *text;

    (void)state;
    small_profile_make(&small);
    small.samples[1].status = STATUS_IDLE;
    text =
        small_output(&small, &folded_format, &(struct view_options){.grouping = {{GROUP_STATUS}}});
    assert_non_null(strstr(text, "[idle]"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graphs_leave_idle_processes_out),
        cmocka_unit_test(test_lists_of_samples_have_idle_processes),
        cmocka_unit_test(test_metrics_count_idle_processes),
        cmocka_unit_test(test_what_is_left_out_is_reported),
        cmocka_unit_test(test_tables_share_the_time_that_is_not_idle),
        cmocka_unit_test(test_graph_of_idle_processes_alone_says_so),
        cmocka_unit_test(test_other_events_keep_idle_processes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
