// SPDX-License-Identifier: Apache-2.0
/* All data of samples, one JSON object a line. */
#include "small_output.h"

#define HEADER                                                                                     \
    "{\"type\": \"header\", \"version\": 1, \"beamflame\": \"0.1.0\", "                            \
    "\"start_realtime_ns\": 1763697012000000000, \"frequency\": 100, "                             \
    "\"sampled_by\": \"cpu-clock\", \"cpus\": 2, \"hostname\": \"web-1\", \"kernel\": "            \
    "\"6.18.0\", \"command\": \"beamflame -p 100\"}\n"
#define CPU "{\"type\": \"event\", \"id\": 1, \"name\": \"cpu\", \"units\": {\"time\": \"ns\"}}\n"

/* Each entry appears once, before the entries that refer to it; unknown fields are absent. */
static void test_entry_comes_before_the_entries_that_refer_to_it(void **state)
{
    static const char expected[] = HEADER CPU
        "{\"type\": \"target\", \"id\": 1, \"pid\": 100, \"node\": \"shop@\\\"web\\\"\", "
        "\"otp_release\": \"27\", \"schedulers\": 2, \"dirty_cpu_schedulers\": 0, "
        "\"dirty_io_schedulers\": 0, \"processes\": 50, \"layout\": \"table\"}\n"
        "{\"type\": \"process\", \"id\": 1, \"target\": 1, \"pid\": \"<0.85.0>\", "
        "\"name\": \"cart\"}\n"
        "{\"type\": \"thread\", \"id\": 1, \"target\": 1, \"tid\": 102, \"name\": "
        "\"erts_sched_1\", \"scheduler\": \"normal\", \"number\": 1}\n"
        "{\"type\": \"frame\", \"id\": 1, \"symbol\": \"proc_lib:init_p/5\", \"kind\": "
        "\"erlang\", \"address\": \"0x7f20aabb0000\"}\n"
        "{\"type\": \"stack\", \"id\": 1, \"frame\": 1}\n"
        "{\"type\": \"frame\", \"id\": 2, \"symbol\": \"erlang:+/2\", \"kind\": \"erlang\", "
        "\"address\": \"0x7f20aabbccdd\"}\n"
        "{\"type\": \"stack\", \"id\": 2, \"parent\": 1, \"frame\": 2}\n"
        "{\"type\": \"sample\", \"time_ns\": 1000000000, \"event\": \"cpu\", \"values\": "
        "{\"time\": 10000000}, \"stack\": 2, \"process\": 1, \"thread\": 1, \"cpu\": 3, "
        "\"status\": \"running\", \"microstate\": \"emulator\", \"erlang\": true, "
        "\"complete\": true, \"metrics\": {\"reductions\": 1000, \"heap\": 2000}}\n"
        "{\"type\": \"sample\", \"time_ns\": 1010000000, \"event\": \"cpu\", \"values\": "
        "{\"time\": 10000000}, \"stack\": 2, \"process\": 1, \"thread\": 1, \"cpu\": 3, "
        "\"status\": \"running\", \"microstate\": \"emulator\", \"erlang\": true, "
        "\"complete\": true, \"metrics\": {\"reductions\": 1500}}\n"
        "{\"type\": \"module\", \"id\": 3, \"path\": \"" SMALL_FILE
        "\", \"build_id\": \"" SMALL_BUILD_ID "\"}\n"
        "{\"type\": \"frame\", \"id\": 5, \"symbol\": \"spin\", \"kind\": \"native\", "
        "\"module\": 3, \"address\": \"0x2000\"}\n"
        "{\"type\": \"stack\", \"id\": 5, \"frame\": 5}\n"
        "{\"type\": \"sample\", \"time_ns\": 1020000000, \"event\": \"cpu\", \"values\": "
        "{\"time\": 10000000}, \"stack\": 5, \"thread\": 1, \"cpu\": 0, \"activity\": "
        "\"busy-wait\", \"microstate\": \"busy_wait\"}\n"
        "{\"type\": \"sample\", \"time_ns\": 2000000000, \"event\": \"cpu\", \"values\": "
        "{\"time\": 10000000}, \"stack\": 2, \"process\": 1, \"thread\": 1, \"cpu\": 3, "
        "\"status\": \"running\", \"microstate\": \"emulator\", \"erlang\": true, "
        "\"complete\": true, \"metrics\": {\"reductions\": 4000, \"heap\": 600}}\n"
        "{\"type\": \"totals\", \"duration_ns\": 2500000000, \"samples\": 4, \"left_out\": 0, "
        "\"erlang_samples\": 3, \"complete_stacks\": 3, \"truncated_stacks\": 0, \"frames\": 8, "
        "\"erlang_frames\": 5, \"unknown_erlang_frames\": 0, \"unknown_native_frames\": 1, "
        "\"attach_ns\": 12345678, \"profiler_cpu_ns\": 5000000, \"peak_rss_kb\": 4096, "
        "\"cpu_samples\": 0, \"cpu_sampled_ns\": 0, \"cpu_accounted_ns\": 0, "
        "\"cut\": false, \"losses\": {\"ring_full\": 2, \"bad_sample\": 0, \"stack_incomplete\": "
        "0, \"stack_truncated\": 0, \"stack_pointer\": 0, \"native_unwind\": 0, "
        "\"unknown_erlang\": 0, \"unknown_native\": 1, \"kernel_stack\": 0, \"out_of_order\": "
        "0, \"kernel_entry\": 0, \"clock_stopped\": 0, \"thread_times\": 0, \"memory\": 0, "
        "\"node_metrics\": 0, \"read_fault\": 0, \"sweeps\": 0, \"trace\": 0}}\n";
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    small.samples[1].stack = small.samples[0].stack;
    small.samples[1].microstate = MICROSTATE_EMULATOR;
    assert_output(&small, &json_format, expected);
}

/* With a selected event: only that event, with its counts. */
static void test_selected_event_is_written_alone_with_its_counts(void **state)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}, .event = "gc"};
    struct small_profile small;
    char *text;

    (void)state;
    small_profile_make(&small);
    small_profile_add_events(&small);
    text = small_output_of(&small, &json_format, &settings);
    assert_null(strstr(text, "\"cpu\", \"units\""));
    assert_null(strstr(text, "\"event\": \"cpu\""));
    assert_non_null(strstr(text, "\"event\": \"gc\", \"values\": {\"time\": 12300, \"count\": 3, "
                                 "\"reclaimed\": 1000, \"binaries\": 0, \"heap-before\": 0, "
                                 "\"heap-after\": 0}"));
    assert_non_null(strstr(text, "{\"type\": \"counted\", \"event\": \"gc\", \"hits\": "));
    assert_non_null(strstr(text,
                           "\"histograms\": [{\"name\": \"pause, \\\"minor\\\"\", "
                           "\"unit\": \"ns\", \"seen\": 2, \"max\": 500000, \"buckets\": [["));
    assert_non_null(
        strstr(text, "\"tallies\": [{\"name\": \"put off\", \"count\": 5, \"seen\": 3}]"));
    free(text);
}

static void test_wakers_parents_and_ports_are_written(void **state)
{
    struct small_profile small;
    struct process_entry child;
    struct profile *p;
    ancestor_id top;
    char *text;

    (void)state;
    small_profile_make(&small);
    p = small.profile;
    child = *profile_get_process(p, 1);
    child.pid = profile_string_z(p, "<0.99.0>");
    child.parent = 1;
    top = profile_ancestor(p, 0, profile_string_z(p, "top_sup"));
    child.ancestors = profile_ancestor(p, top, profile_string_z(p, "sup"));
    small.samples[1].peer = profile_process(p, &child);
    small.samples[2].activity = ACTIVITY_PORT;
    small.samples[2].detail = profile_string_z(p, "tcp_inet");
    text = small_output(&small, &json_format, &(struct view_options){0});
    assert_non_null(strstr(text, "\"process\": 1, \"peer\": 2, "));
    assert_non_null(strstr(text, "\"parent\": \"<0.85.0>\", "
                                 "\"ancestors\": [\"sup\", \"top_sup\"]}\n"));
    assert_non_null(strstr(text, "\"activity\": \"port\", \"detail\": \"tcp_inet\""));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entry_comes_before_the_entries_that_refer_to_it),
        cmocka_unit_test(test_selected_event_is_written_alone_with_its_counts),
        cmocka_unit_test(test_wakers_parents_and_ports_are_written),
    };

    return cmocka_run_group_tests_name("output_json_lines", tests, NULL, NULL);
}
