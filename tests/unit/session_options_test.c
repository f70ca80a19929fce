// SPDX-License-Identifier: Apache-2.0
/* The events of a session, as -e names them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "session/options.h"

static void add(struct session_options *session, char *list)
{
    struct error error;

    assert_int_equal(session_options_add_events(session, list, &error), 0);
}

/* Functions are counted by breakpoints: they are no events with probes. Each is there once. */
static void test_functions_are_apart_from_events_with_probes(void **state)
{
    char first[] = "cpu,call:lists:map/2,gc", second[] = "call:Enum.map/2,call:lists:map/2";
    struct session_options session = {0};

    (void)state;
    add(&session, first);
    add(&session, second);
    assert_true(session.cpu);
    assert_int_equal(session.event_count, 1);
    assert_string_equal(session.events[0].name, "gc");
    assert_int_equal(session.function_count, 2);
    assert_string_equal(session.functions[0], "lists:map/2");
    assert_string_equal(session.functions[1], "Enum.map/2");
}

static void test_what_is_no_function_is_refused(void **state)
{
    static const char *const bad[] = {"call:", "call:lists", "call:lists:"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct session_options session = {0};
        struct error error;
        char list[32];

        snprintf(list, sizeof(list), "%s", bad[i]);
        assert_int_equal(session_options_add_events(&session, list, &error), -1);
        assert_int_equal(error.code, ERROR_USAGE);
        assert_int_equal(session.function_count, 0);
    }
}

static void test_at_most_64_functions_are_counted(void **state)
{
    static char names[WIRE_CALL_FUNCTIONS + 1][32];
    struct session_options session = {0};
    struct error error;

    (void)state;
    for (int i = 0; i < WIRE_CALL_FUNCTIONS; i++) {
        snprintf(names[i], sizeof(names[i]), "call:m:f%d/1", i);
        add(&session, names[i]);
    }
    snprintf(names[WIRE_CALL_FUNCTIONS], sizeof(names[0]), "call:m:g/1");
    assert_int_equal(session_options_add_events(&session, names[WIRE_CALL_FUNCTIONS], &error), -1);
    assert_string_equal(error.text, "at most 64 functions can be counted at once");
}

/* All functions have the share of one event, and the shares are the budget. A budget of everything
 * is not divided: each hit counts then. */
static void test_functions_and_events_share_the_budget(void **state)
{
    char events[] = "gc,alloc,msg,call:lists:map/2,call:lists:foldl/3";
    struct session_options session = {.budget = 0.04};

    (void)state;
    add(&session, events);
    assert_float_equal(session_options_probe_budget(&session), 0.03, 1e-9);
    assert_float_equal(session_options_call_budget(&session), 0.01, 1e-9);
    session.budget = 1;
    assert_float_equal(session_options_probe_budget(&session), 1, 1e-9);
    assert_float_equal(session_options_call_budget(&session), 1, 1e-9);
    session = (struct session_options){.budget = 0.04, .function_count = 1};
    assert_float_equal(session_options_call_budget(&session), 0.04, 1e-9);
    session = (struct session_options){.budget = 0.04, .event_count = 1};
    assert_float_equal(session_options_probe_budget(&session), 0.04, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_are_apart_from_events_with_probes),
        cmocka_unit_test(test_what_is_no_function_is_refused),
        cmocka_unit_test(test_at_most_64_functions_are_counted),
        cmocka_unit_test(test_functions_and_events_share_the_budget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
