// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "profile/events.h"

/* The value indices that producers use belong to the names that users see. */
static void test_value_indices_match_their_names(void **state)
{
    static const struct {
        const char *event;
        int index;
        const char *name;
        enum unit unit;
    } cases[] = {
        {"cpu", CPU_TIME, "time", UNIT_NS},
        {"gc", GC_TIME, "time", UNIT_NS},
        {"gc", GC_COUNT, "count", UNIT_COUNT},
        {"gc", GC_RECLAIMED, "reclaimed", UNIT_WORDS},
        {"gc", GC_BINARIES, "binaries", UNIT_BYTES},
        {"alloc", ALLOC_WORDS, "words", UNIT_WORDS},
        {"alloc", ALLOC_COUNT, "count", UNIT_COUNT},
        {"alloc", ALLOC_BINARIES, "binaries", UNIT_BYTES},
        {"sched", SCHED_WAIT, "wait", UNIT_NS},
        {"sched", SCHED_DELAY, "delay", UNIT_NS},
        {"sched", SCHED_COUNT, "count", UNIT_COUNT},
        {"msg", MSG_COUNT, "count", UNIT_COUNT},
        {"msg", MSG_WORDS, "words", UNIT_WORDS},
        {"msg", MSG_DELAY, "delay", UNIT_NS},
        {"msg", MSG_RECEIVED, "received", UNIT_COUNT},
        {"msg", MSG_SIGNALS, "signals", UNIT_COUNT},
        {"bif:term_to_binary", CALL_TIME, "time", UNIT_NS},
        {"nif:crypto:hash/2", CALL_COUNT, "count", UNIT_COUNT},
        {"call:lists:map/2", PLACE_COUNT, "count", UNIT_COUNT},
        {"probe:erts_alloc+0x10", PLACE_COUNT, "count", UNIT_COUNT},
        {"usdt:process-spawn", PLACE_COUNT, "count", UNIT_COUNT},
    };
    struct profile *profile = profile_new();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        event_id id = event_define(profile, cases[i].event);
        const struct event_entry *event = profile_get_event(profile, id);
        const struct event_value *value = &event->values[cases[i].index];

        assert_string_equal(profile_text(profile, event->name), cases[i].event);
        assert_in_range(cases[i].index, 0, event->value_count - 1);
        assert_string_equal(profile_text(profile, value->name), cases[i].name);
        assert_int_equal(value->unit, cases[i].unit);
    }
    profile_free(profile);
}

static void test_each_event_has_one_entry_and_a_bad_name_has_none(void **state)
{
    static const char *const bad[] = {"",     "cp",   "cpus",  "gc:", "bif",
                                      "bif:", "nif:", "call:", "all"};
    struct profile *profile = profile_new();

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(event_define(profile, bad[i]), 0);
    assert_int_equal(profile_counts(profile).events, 0);
    assert_int_equal(event_define(profile, "gc"), 1);
    assert_int_equal(event_define(profile, "bif:a"), 2);
    assert_int_equal(event_define(profile, "bif:b"), 3);
    assert_int_equal(event_define(profile, "gc"), 1);
    profile_free(profile);
}

static void test_each_unit_has_its_name(void **state)
{
    (void)state;
    assert_string_equal(profile_unit_name(UNIT_COUNT), "count");
    assert_string_equal(profile_unit_name(UNIT_NS), "ns");
    assert_string_equal(profile_unit_name(UNIT_WORDS), "words");
    assert_string_equal(profile_unit_name(UNIT_BYTES), "bytes");
    assert_string_equal(profile_unit_name(0), "unknown");
    assert_string_equal(profile_unit_name(UNIT_END), "unknown");
}

/* Timers are known by their name, with and without perf's modifiers. Other clocks count something
 * else. */
static void test_only_timers_count_time(void **state)
{
    (void)state;
    assert_true(event_clock_is_timer("cpu-clock"));
    assert_true(event_clock_is_timer("task-clock"));
    assert_true(event_clock_is_timer("cpu-clock:u"));
    assert_false(event_clock_is_timer("cycles"));
    assert_false(event_clock_is_timer("ref-cycles"));
    assert_false(event_clock_is_timer("context-switches"));
    assert_false(event_clock_is_timer(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value_indices_match_their_names),
        cmocka_unit_test(test_each_event_has_one_entry_and_a_bad_name_has_none),
        cmocka_unit_test(test_each_unit_has_its_name),
        cmocka_unit_test(test_only_timers_count_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
