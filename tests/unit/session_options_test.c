// SPDX-License-Identifier: Apache-2.0
/* The events of a session, as -e names them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/options.h"
#include "util/buffer.h"

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

/* The events as a list, with blanks between them. */
static void assert_events(const struct session_options *session, const char *expected)
{
    struct buffer text = {0};
    char *name;

    for (size_t i = 0; (name = session_options_event(session, i)); i++) {
        buffer_format(&text, "%s%s", i ? " " : "", name);
        free(name);
    }
    buffer_byte(&text, '\0');
    assert_string_equal(text.data, expected);
    buffer_free(&text);
}

static void assert_refused(int result, const struct error *error, const char *reason)
{
    assert_int_equal(result, -1);
    assert_int_equal(error->code, ERROR_USAGE);
    assert_non_null(strstr(error->text, reason));
}

/* One event at a time comes and leaves, of each kind, and the others stay in their order. */
static void test_events_are_added_and_removed(void **state)
{
    static const char *const added[] = {"gc", "wall", "call:lists:map/2", "msg", "call:a:b/1"};
    struct session_options session = {.cpu = true};
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof(added) / sizeof(*added); i++)
        assert_int_equal(session_options_add_another(&session, added[i], &error), 0);
    assert_events(&session, "cpu wall gc msg call:lists:map/2 call:a:b/1");
    assert_int_equal(session_options_remove_event(&session, "call:lists:map/2", &error), 0);
    assert_int_equal(session_options_remove_event(&session, "gc", &error), 0);
    assert_events(&session, "cpu wall msg call:a:b/1");
    assert_int_equal(session_options_remove_event(&session, "cpu", &error), 0);
    assert_int_equal(session_options_remove_event(&session, "call:a:b/1", &error), 0);
    assert_int_equal(session_options_remove_event(&session, "msg", &error), 0);
    assert_events(&session, "wall");
}

/* A change that is refused leaves the events as they were. */
static void test_changes_of_events_are_refused(void **state)
{
    struct session_options session = {.cpu = true};
    struct error error;

    (void)state;
    assert_refused(session_options_add_another(&session, "cpu", &error), &error,
                   "event cpu is recorded already");
    assert_refused(session_options_add_another(&session, "", &error), &error, "not one event");
    assert_refused(session_options_add_another(&session, "gc,msg", &error), &error,
                   "'gc,msg' is not one event");
    assert_refused(session_options_add_another(&session, "gcc", &error), &error,
                   "there is no event 'gcc'");
    assert_refused(session_options_add_another(&session, "call:x", &error), &error,
                   "'x' is no function");
    assert_refused(session_options_remove_event(&session, "gc", &error), &error,
                   "event 'gc' is not recorded");
    assert_refused(session_options_remove_event(&session, "cpu", &error), &error,
                   "cpu is the only event");
    assert_events(&session, "cpu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_are_apart_from_events_with_probes),
        cmocka_unit_test(test_what_is_no_function_is_refused),
        cmocka_unit_test(test_at_most_64_functions_are_counted),
        cmocka_unit_test(test_functions_and_events_share_the_budget),
        cmocka_unit_test(test_events_are_added_and_removed),
        cmocka_unit_test(test_changes_of_events_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
