// SPDX-License-Identifier: Apache-2.0
/* From the rules of a configuration to what a session records of each VM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/agent_rules.h"
#include "config_file.h"

static const char TEXT[] = "record: {cpu: 19, wall: 1, events: 'gc,alloc'}\n"
                           "rules:\n"
                           "- {node: often, profile: true, cpu: 99, wall: 0, events: ''}\n"
                           "- {node: none, profile: false, cpu: 500, wall: 500, events: sched}\n"
                           "- {node: numbers, profile: true, cpu: 0}\n"
                           "- {node: messages, profile: true, wall: 7, events: 'msg,gc'}\n";

static void assert_plan(const struct target_plan *plan, bool cpu, uint32_t frequency, uint32_t wall,
                        uint32_t events)
{
    assert_int_equal(plan->cpu, cpu);
    assert_int_equal(plan->frequency, frequency);
    assert_int_equal(plan->wall_frequency, wall);
    assert_int_equal(plan->events, events);
}

/* A session records what one of the rules wants. A rule that excludes VMs wants nothing. */
static void test_plans_are_parts_of_what_is_recorded(void **state)
{
    enum { GC = 1, ALLOC = 2, MSG = 4 };
    struct agent_config config = good_config(TEXT);
    struct session_options session = {.frequency = 1};
    char *events = agent_rules_events(&config);
    struct agent_rules rules;
    struct error error;

    (void)state;
    assert_int_equal(session_options_add_events(&session, events, &error), 0);
    assert_int_equal(session.event_count, 3);
    assert_string_equal(session.events[0].name, "gc");
    assert_string_equal(session.events[1].name, "alloc");
    assert_string_equal(session.events[2].name, "msg");
    assert_int_equal(agent_rules_most(&config).frequency, 99);
    assert_int_equal(agent_rules_most(&config).wall_frequency, 7);

    rules = agent_rules_of(&config, &session);
    assert_int_equal(rules.count, 5);
    assert_plan(&rules.of[0].plan, true, 99, 0, 0);
    assert_false(rules.of[1].profile);
    assert_plan(&rules.of[2].plan, false, 1, 1, GC | ALLOC);
    assert_plan(&rules.of[3].plan, true, 19, 7, GC | MSG);
    assert_true(rules.of[4].profile);
    assert_null(rules.of[4].node);
    assert_plan(&rules.of[4].plan, true, 19, 1, GC | ALLOC);
    agent_rules_free(&rules);
    agent_config_free(&config);
    free(events);
}

/* Rules are only applied at once if all of them together need what the session has. */
static void test_what_rules_need_together(void **state)
{
    static const struct {
        const char *before, *after; /* NULL: a rule is added */
        bool are_alike;
    } changes[] = {{"node: numbers", "node: figures", true},
                   {"cpu: 99", "cpu: 98", false},
                   {"wall: 7", "wall: 8", true},
                   {"sched", "alloc", true},
                   {"'msg,gc'", "'gc,msg'", true},
                   {"'msg,gc'", "'gc'", false},
                   {"'gc,alloc'", "'alloc'", true},
                   {NULL, "- {node: new, profile: true}\n", true},
                   {NULL, "- {node: new, profile: true, events: 'alloc'}\n", true},
                   {NULL, "- {node: new, profile: true, events: 'sched'}\n", false}};
    struct agent_config config = good_config(TEXT);

    (void)state;
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        const char *before = changes[i].before;
        const char *at = before ? strstr(TEXT, before) : TEXT + strlen(TEXT);
        char *text = xasprintf("%.*s%s%s", (int)(at - TEXT), TEXT, changes[i].after,
                               at + (before ? strlen(before) : 0));
        struct agent_config other = good_config(text);

        assert_int_equal(agent_rules_need_alike(&config, &other), changes[i].are_alike);
        assert_int_equal(agent_rules_need_alike(&other, &config), changes[i].are_alike);
        agent_config_free(&other);
        free(text);
    }
    agent_config_free(&config);
}

/* A rule that records otherwise is another one. */
static void test_each_change_is_seen(void **state)
{
    static const struct {
        const char *before, *after;
    } changes[] = {{"cpu: 99", "cpu: 98"},
                   {"wall: 7", "wall: 8"},
                   {"'msg,gc'", "'msg'   "},
                   {"node: numbers", "node: figures"},
                   {"false", "true "}};
    struct agent_config config = good_config(TEXT);

    (void)state;
    assert_true(agent_rules_alike(&config, &config));
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        struct agent_config other;
        char text[sizeof(TEXT)];
        char *at;

        memcpy(text, TEXT, sizeof(TEXT));
        at = strstr(text, changes[i].before);
        assert_non_null(at);
        memcpy(at, changes[i].after, strlen(changes[i].after));
        other = good_config(text);
        assert_false(agent_rules_alike(&config, &other));
        agent_config_free(&other);
    }
    agent_config_free(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_plans_are_parts_of_what_is_recorded),
        IN_FOLDER(test_each_change_is_seen),
        IN_FOLDER(test_what_rules_need_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
