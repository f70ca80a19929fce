// SPDX-License-Identifier: Apache-2.0
#include "small_output.h"

#include "output/counts.h"

/* The whole report, byte for byte. */
static void test_summary_is_exact(void **state)
{
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    assert_output(
        &small, &summary_format,
        "busy      1.2 % of the time of 1 scheduler\n"
        "process   75.0 % of the CPU time (30.0 ms, 3 samples): <0.85.0> cart\n"
        "function  50.0 % of the CPU time (20.0 ms, 2 samples): erlang:+/2; 1 other may have as "
        "much\n"
        "next      sudo beamflame -p 100 -d 30 -e wall --node-metrics memory,tables,ports -o "
        "wall.svg    # what processes wait for, and what grows\n\n"
        "target    shop@\"web\", pid 100, OTP 27\nsamples   4 in 2.5 s, of cpu-clock at 100 "
        "Hz\ncoverage  Erlang stacks: 100.0 % complete, 0.0 % truncated; frames: 12.50 % "
        "unresolved\n\nwhat threads did, in % of the time\n               emulator   port  busy "
        "wait  sleep   busy  samples\n  scheduler 1       0.8    0.4        0.4   98.4    1.2     "
        "   4\n  busy: on a CPU, without busy wait and sleep\n\nfunctions with most CPU "
        "time\n       20.0 ms  50.0 %          2 samples  erlang:+/2\n"
        "       10.0 ms  25.0 %          1 sample   do_syscall_64\n"
        "       10.0 ms  25.0 %          1 sample   spin\n\n"
        "Erlang functions with most CPU time, with the BIFs and C functions they call\n"
        "       20.0 ms  50.0 %          2 samples  erlang:+/2\n"
        "       10.0 ms  25.0 %          1 sample   proc_lib:init_p/5\n\n"
        "processes with most CPU time\n"
        "       30.0 ms  75.0 %          3 samples  <0.85.0>  cart\n\nlost or incomplete\n         "
        "    2  samples dropped because the ring buffer was "
        "full\n             1  native frames without a symbol, shown as file and offset\n");
}

/* Functions of C whose name is inferred are counted; an Erlang function is none. */
static void test_inferred_names_are_counted(void **state)
{
    static const struct {
        const char *symbol;
        uint8_t kind;
    } added[] = {{"~dec_term", FRAME_NATIVE}, {"~grow", FRAME_NATIVE}, {"~:x/1", FRAME_ERLANG}};
    const struct view_options options = {.grouping = {{GROUP_NAME}}};
    struct small_profile small;
    char *text;

    (void)state;
    small_profile_make(&small);
    for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++)
        profile_frame(small.profile,
                      &(struct frame){.symbol = profile_string_z(small.profile, added[i].symbol),
                                      .kind = added[i].kind});
    text = small_output(&small, &summary_format, &options);
    assert_non_null(strstr(text, "\ninferred  C functions whose names begin with ~: 2\n"));
    free(text);
}

/* A process started with a fun is named after the root function of its stacks, as in other outputs;
 * any complete stack will do. */
static void test_unnamed_process_has_the_name_of_its_root_function(void **state)
{
    struct small_profile small;
    struct process_entry worker = {.identity = 0x563, .target = 1};
    char *text;

    (void)state;
    small_profile_make(&small);
    worker.pid = profile_string_z(small.profile, "<0.86.0>");
    worker.initial_call = profile_string_z(small.profile, "erlang:apply/2");
    for (int i = 0; i < SMALL_SAMPLES; i++)
        small.samples[i].process = profile_process(small.profile, &worker);
    small.samples[3].flags = SAMPLE_ERLANG;
    text =
        small_output(&small, &summary_format, &(struct view_options){.grouping = {{GROUP_NAME}}});
    assert_non_null(strstr(text, "100.0 %          4 samples  <0.86.0>  proc_lib:init_p/5\n"));
    free(text);
}

/* The table has pids, so a label that does not name groups is shown too. */
static void test_label_that_is_a_detail_is_shown_beside_the_pid(void **state)
{
    struct small_profile small;
    struct process_entry channel = {.identity = 0x563, .target = 1, .label_is_detail = 1};
    char *text;

    (void)state;
    small_profile_make(&small);
    channel.pid = profile_string_z(small.profile, "<0.86.0>");
    channel.label = profile_string_z(small.profile, "channel 1");
    channel.initial_call = profile_string_z(small.profile, "rabbit_channel:init/1");
    for (int i = 0; i < SMALL_SAMPLES; i++)
        small.samples[i].process = profile_process(small.profile, &channel);
    text =
        small_output(&small, &summary_format, &(struct view_options){.grouping = {{GROUP_NAME}}});
    assert_non_null(strstr(text, "100.0 %          4 samples  <0.86.0>  channel 1\n"));
    free(text);
}

/* A sample counts for the ETS table that its leaf works on: a function that the BIF calls back does
 * not. A function with such a name is no table. */
static void test_tables_have_the_time_of_their_samples(void **state)
{
    struct small_profile small;
    stack_id table, code;
    char *text;

    (void)state;
    small_profile_make(&small);
    table = profile_stack(small.profile, small.samples[0].stack,
                          small_frame(small.profile, TABLE_MARK "a [b]]", "", FRAME_MARK, 0));
    code = profile_stack(small.profile, table,
                         small_frame(small.profile, "ets_lookup_2", SMALL_FILE, FRAME_NATIVE, 1));
    small.samples[0].stack = table;
    small.samples[1].stack = code;
    small.samples[2].stack = profile_stack(
        small.profile, code, small_frame(small.profile, "lists:map/2", "", FRAME_ERLANG, 0));
    small.samples[3].stack = profile_stack(
        small.profile, 0, small_frame(small.profile, TABLE_MARK "c]", SMALL_FILE, FRAME_NATIVE, 2));
    text =
        small_output(&small, &summary_format, &(struct view_options){.grouping = {{GROUP_NAME}}});
    assert_non_null(strstr(text, "\nETS tables with most CPU time\n"
                                 "       20.0 ms  50.0 %          2 samples  a [b]\n\n"));
    free(text);
}

/* The largest sums come first, and no more of them than requested. */
static void test_largest_sums_come_first(void **state)
{
    static const uint64_t sums[] = {5, 0, 9, 1, 7, 7, 3};
    static const uint32_t expected[] = {2, 4, 5};
    struct count_of_id top[8];
    struct counts counts = {0};

    (void)state;
    assert_int_equal(counts_top(&counts, top, 3), 0);
    for (uint32_t i = 0; i < 7; i++)
        counts_add(&counts, i, sums[i]);
    assert_int_equal(counts_top(&counts, top, 3), 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(top[i].id, expected[i]);
    assert_int_equal(counts_top(&counts, top, 8), 6);
    assert_int_equal(top[5].id, 3);
    counts_free(&counts);
}

/* Return how many rows the table with this heading has. */
static int rows_below(const char *text, const char *heading)
{
    const char *at = strstr(text, heading);
    int rows = 0;

    assert_non_null(at);
    for (at += strlen(heading); *at && *at != '\n'; at = strchr(at, '\n') + 1)
        rows++;
    return rows;
}

/* Four functions in a recording of three events. */
static char *summary_of_three_events(const struct output_format *format)
{
    static const char *const names[SMALL_SAMPLES] = {"a:a/0", "a:b/0", "a:c/0", "a:d/0"};
    struct small_profile small;

    small_profile_make(&small);
    event_define(small.profile, "gc");
    event_define(small.profile, "msg");
    for (int i = 0; i < SMALL_SAMPLES; i++)
        small.samples[i].stack = small_call(small.profile, 0, names[i], 1);
    return small_output(&small, format, &(struct view_options){.grouping = {{GROUP_NAME}}});
}

/* A short summary has the first rows of the tables, and says how to get the others. */
static void test_short_summary_has_the_first_rows(void **state)
{
    char *whole = summary_of_three_events(&summary_format);
    char *first = summary_of_three_events(&short_summary_format);

    (void)state;
    assert_int_equal(rows_below(whole, "\nfunctions with most CPU time\n"), 4);
    assert_int_equal(rows_below(first, "\nfunctions with most CPU time\n"), 3);
    assert_null(strstr(whole, "--summary full"));
    assert_non_null(strstr(first, "\n--summary full "));
    free(whole);
    free(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary_is_exact),
        cmocka_unit_test(test_label_that_is_a_detail_is_shown_beside_the_pid),
        cmocka_unit_test(test_unnamed_process_has_the_name_of_its_root_function),
        cmocka_unit_test(test_tables_have_the_time_of_their_samples),
        cmocka_unit_test(test_inferred_names_are_counted),
        cmocka_unit_test(test_largest_sums_come_first),
        cmocka_unit_test(test_short_summary_has_the_first_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
