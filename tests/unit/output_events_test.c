// SPDX-License-Identifier: Apache-2.0
/* Outputs of a recording with several events: names, weights, units and counts. */
#include "small_events.h"

#include <math.h>

#include "output/weight.h"

/* Weights: each sample counts 1 whatever its value, or the time of one event without the others. */
static void test_weight_is_samples_or_the_time_of_one_event(void **state)
{
    char *text = text_of(&folded_format, "gc", "samples");

    (void)state;
    assert_string_equal(text, "cart;proc_lib:init_p/5;erlang:+/2 1\n"
                              "cart;proc_lib:init_p/5;memcpy;do_syscall_64 1\n");
    free(text);
    text = text_of(&folded_format, NULL, "cpu");
    assert_string_equal(text, "[scheduler] busy-wait;spin 10000000\n"
                              "cart;proc_lib:init_p/5;erlang:+/2 10000000\n");
    free(text);
    text = text_of(&perf_format, NULL, "cpu");
    assert_non_null(strstr(text, "# weight : time in ns\n"));
    free(text);
    text = text_of(&perf_format, "gc", "samples");
    assert_null(strstr(text, "# weight"));
    free(text);
    text = text_of(&svg_format, "gc", "samples");
    assert_non_null(strstr(text, "gc: 2 samples</text>"));
    free(text);
}

/* The event line has the event's name and weight; comments have the unit and the counts. */
static void test_perf_has_the_event_its_unit_and_its_counts(void **state)
{
    char *text = text_of(&perf_format, "gc", NULL);
    const char *body = strstr(text, "# weight");

    (void)state;
    assert_non_null(body);
    assert_string_equal(body, "# weight : time in ns\n"
                              "# ========\n"
                              "#\n"
                              "erts_sched_1 100/102 [003] 2.010000:      12300 gc:\n"
                              "\tffffffff81000000 do_syscall_64 ([kernel.kallsyms])\n"
                              "\t            1000 memcpy (/opt/my%20lib/libc.so.6)\n"
                              "\t    7f20aabb0000 proc_lib:init_p/5 (/tmp/perf-100.map)\n"
                              "\t               0 cart (/tmp/perf-100.map)\n"
                              "\n"
                              "erts_sched_1 100/102 [003] 3.000001:    4567890 gc:\n"
                              "\t    7f20aabbccdd erlang:%2B/2 (/tmp/perf-100.map)\n"
                              "\t    7f20aabb0000 proc_lib:init_p/5 (/tmp/perf-100.map)\n"
                              "\t               0 cart (/tmp/perf-100.map)\n"
                              "\n"
                              "# counted 1,234 hits, 40.0 % of the time covered in 13 windows, "
                              "at 0.60 % of the VM's CPU time, 2 samples lost; 4.60 ms +- 0.20 ms\n"
                              "# loss ring_full 2\n"
                              "# loss unknown_native 1\n"
                              "\n");
    free(text);
    text = text_of(&perf_format, "cpu", "time");
    assert_null(strstr(text, "# weight"));
    assert_non_null(strstr(text, " 2.000001:          1 cpu-clock:\n"));
    assert_null(strstr(text, "memcpy"));
    free(text);
}

static void test_svg_titles_have_the_unit_of_the_value(void **state)
{
    char *text = text_of(&svg_format, "gc", NULL);

    (void)state;
    assert_non_null(strstr(text, "<title>all (4.6 ms, 100.00%)</title>"));
    assert_non_null(strstr(text, "<title>memcpy (12.3 us, 0.27%)</title>"));
    assert_non_null(strstr(text, ">2.5 s, gc: time 4.58 ms in 2 samples; counted: 4.60 ms +- "
                                 "0.20 ms in 1,234 hits, 40.0 % of the time covered in 13 "
                                 "windows, at 0.60 % of the VM's CPU time, 2 samples lost</text>"));
    free(text);
    text = text_of(&svg_format, "gc", "reclaimed");
    assert_non_null(strstr(text, "<title>memcpy (1,000 words, 100.00%)</title>"));
    assert_non_null(strstr(text, "counted: 1,000 words in 1,234 hits"));
    free(text);
    text = text_of(&svg_format, "cpu", NULL);
    assert_non_null(strstr(text, "<title>all (2 samples, 100.00%)</title>"));
    assert_non_null(strstr(text, ">2.5 s, 2 samples of cpu-clock at 100 Hz; 100.0 % of Erlang"));
    free(text);
}

#define NEXT                                                                                       \
    "next      sudo beamflame -p 100 -d 30 -e wall --node-metrics memory,tables,ports -o "         \
    "wall.svg    # what processes wait for, and what grows\n\n"

#define OVERVIEW                                                                                   \
    "target    shop@\"web\", pid 100, OTP 27\n"                                                    \
    "samples   4 in 2.5 s: 2 cpu (cpu-clock at 100 Hz), 2 gc, 0 bif:erlang:md5/1\n"                \
    "coverage  Erlang stacks: 100.0 % complete, 0.0 % truncated; frames: 12.50 % unresolved\n"     \
    "\n"

#define LOSSES                                                                                     \
    "\n"                                                                                           \
    "lost or incomplete\n"                                                                         \
    "             2  samples dropped because the ring buffer was full\n"                           \
    "             1  native frames without a symbol, shown as file and offset\n"

/* A short summary has the totals of an event, but no histograms. */
static void test_short_summary_has_totals_of_events(void **state)
{
    char *text = text_of(&short_summary_format, NULL, NULL);

    (void)state;
    assert_non_null(strstr(text, "  time              4.60 ms +- 0.20 ms\n"));
    assert_null(strstr(text, "pause"));
    free(text);
}

/* The whole report, byte for byte. */
static void test_summary_of_events_is_exact(void **state)
{
    char *text = text_of(&summary_format, NULL, NULL);

    (void)state;
    assert_string_equal(
        text,
        "busy      0.4 % of the time of 1 scheduler\n"
        "process   50.0 % of the CPU time (10.0 ms, 1 sample): <0.85.0> cart\n"
        "function  50.0 % of the CPU time (10.0 ms, 1 sample): erlang:+/2\n" NEXT OVERVIEW
        "what threads did, in % of the time\n               emulator  busy wait  sleep   busy  "
        "samples\n  scheduler 1       0.4        0.4   99.2    0.4        2\n"
        "  busy: on a CPU, without busy wait and sleep\n\nfunctions with most CPU time\n       "
        "10.0 ms  "
        "50.0 %          1 sample   erlang:+/2\n       10.0 ms  50.0 %          1 sample   spin\n\n"
        "Erlang functions with most CPU time, with the BIFs and C functions they call\n"
        "       10.0 ms  50.0 %          1 sample   erlang:+/2\n\n"
        "processes with most CPU time\n       10.0 ms  50.0 %          1 sample   <0.85.0>  "
        "cart\n\nevent gc: 2 samples, 1,234 hits, 40.0 % of the time "
        "covered in 13 windows, at 0.60 % of the VM's CPU time, 2 samples lost\n  time             "
        " 4.60 ms +- 0.20 ms\n  count             3,085 times +- 196\n  reclaimed         "
        "1,000 words\n  binaries          0 B, at most 8 hits\n  heap-before       0 words on "
        "average, of 1,234 hits\n  "
        "heap-after        0 words on average, of 1,234 hits\n  pause, \"minor\"    4 times (2 "
        "seen), p50 981 ns, "
        "p99 "
        "498.4 us, max 500.0 us\n  put off           5 times (3 seen)\n\n"
        "call sites of gc by time\n"
        "            4.6 ms                    100.0 %          2 samples  other (2 rows)"
        ": chance explains each, record longer or raise --budget\n\n"
        "processes of gc by time\n"
        "            4.6 ms                    100.0 %          2 samples  other (1 row)"
        ": chance explains each, record longer or raise --budget\n\n"
        "event bif:erlang:md5/1: 0 samples\n" LOSSES);
    free(text);
    text = text_of(&summary_format, "gc", "count");
    assert_non_null(strstr(text, "call sites of gc by count\n"
                                 "           4 times                    100.0 %          2 "
                                 "samples  other (2 rows): chance explains"));
    assert_null(strstr(text, "most CPU time"));
    assert_null(strstr(text, "threads did"));
    assert_null(strstr(text, "event bif"));
    free(text);
}

/* A sum of 0, and kinds of hits that were not seen, have a limit where windows cover a part of the
 * time, and are exact where all of it was observed. */
static void test_what_windows_did_not_see_has_a_limit(void **state)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}, .event = "gc"};

    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        struct small_profile small;
        char *text;

        small_profile_make(&small);
        small_profile_add_events(&small);
        small.tally.count = small.tally.seen = 0;
        small.histogram.histogram = (struct histogram){0};
        if (whole)
            small.summary.covered_ns = small.summary.span_ns;
        text = small_output_of(&small, &summary_format, &settings);
        assert_non_null(strstr(text, whole ? "  binaries          0 B\n"
                                           : "  binaries          0 B, at most 8 hits\n"));
        assert_int_equal(!strstr(text,
                                 "  none seen         pause, \"minor\"; put off: at most 8 hits "
                                 "each\n"),
                         whole);
        free(text);
    }
}

/* The key that only recordings with events have, byte for byte. */
static void test_statistics_of_events_are_exact(void **state)
{
    char *text = text_of(&stats_json_format, NULL, NULL), *events = strstr(text, "  \"events\"");

    (void)state;
    assert_non_null(events);
    *strstr(events, "  \"microstates\"") = '\0';
    assert_string_equal(
        events, "  \"events\": {\n"
                "    \"cpu\": {\n"
                "      \"samples\": 2,\n"
                "      \"values\": {\n"
                "        \"time\": {\"unit\": \"ns\"}\n"
                "      }\n"
                "    },\n"
                "    \"gc\": {\n"
                "      \"samples\": 2,\n"
                "      \"hits\": 1234,\n"
                "      \"lost\": 2,\n"
                "      \"span_ms\": 2500.000,\n"
                "      \"covered_ms\": 1000.000,\n"
                "      \"windows\": 13,\n"
                "      \"cost_ms\": 12.000,\n"
                "      \"target_cpu_ms\": 2000.000,\n"
                "      \"unseen_at_most\": 8,\n"
                "      \"values\": {\n"
                "        \"time\": {\"unit\": \"ns\", \"sum\": 4600000, \"standard_error\": "
                "100000, \"sure\": true},\n"
                "        \"count\": {\"unit\": \"count\", \"sum\": 3085, \"standard_error\": 100, "
                "\"sure\": true},\n"
                "        \"reclaimed\": {\"unit\": \"words\", \"sum\": 1000, \"standard_error\": "
                "0, \"sure\": true},\n"
                "        \"binaries\": {\"unit\": \"bytes\", \"sum\": 0, \"standard_error\": 0, "
                "\"sure\": true},\n"
                "        \"heap-before\": {\"unit\": \"words\", \"sum\": 0, \"standard_error\": 0, "
                "\"sure\": true},\n"
                "        \"heap-after\": {\"unit\": \"words\", \"sum\": 0, \"standard_error\": 0, "
                "\"sure\": true}\n"
                "      },\n"
                "      \"histograms\": {\n"
                "        \"pause, \\\"minor\\\"\": {\"unit\": \"ns\", \"count\": 4, \"seen\": 2, "
                "\"p50\": 981, "
                "\"p99\": 498350, \"max\": 500000, \"buckets\": [[896, 3], [458752, 1]]}\n"
                "      },\n"
                "      \"tallies\": {\n"
                "        \"put off\": 5\n"
                "      },\n"
                "      \"tallies_seen\": {\n"
                "        \"put off\": 3\n"
                "      }\n"
                "    },\n"
                "    \"bif:erlang:md5/1\": {\n"
                "      \"samples\": 0,\n"
                "      \"values\": {\n"
                "        \"time\": {\"unit\": \"ns\"},\n"
                "        \"count\": {\"unit\": \"count\"}\n"
                "      }\n"
                "    }\n"
                "  },\n");
    free(text);
}

/* A recording that is written again has the same counts and samples. */

static void test_amounts_have_their_units(void **state)
{
    static const struct {
        uint64_t amount;
        enum unit unit;
        const char *text;
    } cases[] = {
        {0, UNIT_NS, "0 ns"},
        {999, UNIT_NS, "999 ns"},
        {1000, UNIT_NS, "1.0 us"},
        {999949, UNIT_NS, "999.9 us"},
        {999950, UNIT_NS, "1.0 ms"},
        {12345678900, UNIT_NS, "12.3 s"},
        {86400000000000, UNIT_NS, "86400.0 s"},
        {1500, UNIT_BYTES, "1.5 kB"},
        {UINT64_MAX, UNIT_BYTES, "18446744.1 TB"},
        {UINT64_MAX, UNIT_WORDS, "18,446,744,073,709,551,615 words"},
        {1, UNIT_COUNT, "1 time"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(number_text_amount(cases[i].amount, cases[i].unit).text, cases[i].text);
}

/* The amount ends where the second digit of the half does, and has its unit. */
static void test_digits_follow_the_interval(void **state)
{
    static const struct {
        uint64_t amount;
        double half;
        enum unit unit;
        const char *amount_text, *half_text;
    } cases[] = {
        {1214000000, 0, UNIT_NS, "1.21 s", ""},
        {1214000000, NAN, UNIT_NS, "1.21 s", "+- ?"},
        {1214000000, 30000000, UNIT_NS, "1.214 s", "+- 0.030 s"},
        {1214000000, 30100000, UNIT_NS, "1.214 s", "+- 0.031 s"},
        {1214000000, 230000000, UNIT_NS, "1.21 s", "+- 0.23 s"},
        {1214000000, 12000000000, UNIT_NS, "1 s", "+- 12 s"},
        {1214000000, 1, UNIT_NS, "1.214000000 s", "+- 0.000000001 s"},
        {950000, 250000, UNIT_NS, "950 us", "+- 250 us"},
        {999, 3, UNIT_NS, "999 ns", "+- 3 ns"},
        {0, 5200, UNIT_BYTES, "0.0 kB", "+- 5.2 kB"},
        {1500, 99.5, UNIT_BYTES, "1.500 kB", "+- 0.100 kB"},
        {2013, 239.2, UNIT_COUNT, "2,013 times", "+- 240"},
        {5000, 0.2, UNIT_WORDS, "5,000 words", "+- 1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct estimate_text text =
            number_text_estimate(cases[i].amount, cases[i].half, cases[i].unit);

        assert_string_equal(text.amount.text, cases[i].amount_text);
        assert_string_equal(text.half.text, cases[i].half_text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weight_is_samples_or_the_time_of_one_event),
        cmocka_unit_test(test_perf_has_the_event_its_unit_and_its_counts),
        cmocka_unit_test(test_svg_titles_have_the_unit_of_the_value),
        cmocka_unit_test(test_summary_of_events_is_exact),
        cmocka_unit_test(test_short_summary_has_totals_of_events),
        cmocka_unit_test(test_what_windows_did_not_see_has_a_limit),
        cmocka_unit_test(test_statistics_of_events_are_exact),
        cmocka_unit_test(test_amounts_have_their_units),
        cmocka_unit_test(test_digits_follow_the_interval),
    };

    setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests(tests, setup, teardown);
}
