// SPDX-License-Identifier: Apache-2.0
/* The rules of the agent's configuration. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "config_file.h"

static void test_rules_are_read_in_their_order(void **state)
{
    struct agent_config config =
        good_config("rules:\n- {node: 'shop@*', container: app, profile: true}\n"
                    "- namespace: test-*\n  pod: '*'\n  profile: false\n");

    (void)state;
    assert_int_equal(config.rule_count, 2);
    assert_string_equal(config.rules[0].node, "shop@*");
    assert_string_equal(config.rules[0].container, "app");
    assert_null(config.rules[0].pod);
    assert_true(config.rules[0].profile);
    assert_string_equal(config.rules[1].name_space, "test-*");
    assert_string_equal(config.rules[1].pod, "*");
    assert_false(config.rules[1].profile);
    agent_config_free(&config);
}

/* What a rule does not say is as in section `record`, wherever that is in the file. */
static void test_rules_say_what_is_recorded(void **state)
{
    struct agent_config config =
        good_config("rules:\n- {node: a, profile: true, cpu: 99, events: 'gc, msg'}\n"
                    "- {node: b, profile: true, wall: 0, events: ''}\n"
                    "record: {cpu: 7, wall: 5, events: sched}\n");
    const struct agent_rule *rules = config.rules;

    (void)state;
    assert_int_equal(rules[0].cpu, 99);
    assert_int_equal(rules[0].wall, 5);
    assert_string_equal(rules[0].events, "gc,msg");
    assert_int_equal(rules[1].cpu, 7);
    assert_int_equal(rules[1].wall, 0);
    assert_string_equal(rules[1].events, "");
    agent_config_free(&config);
}

static void test_bad_rules_are_refused(void **state)
{
    static const struct bad_file files[] = {
        {"rules:\n- node: a\n", "2:3: rules.profile is missing: every rule must have it"},
        {"rules:\n- profile: yes\n", "2:12: rules.profile must be true or false, not 'yes'"},
        {"rules:\n- {profile: true, events: 'gc,cpu'}\n",
         "2:27: rules.events can't have 'cpu': rules.cpu sets how often it is sampled"},
        {"rules:\n- {profile: true, cpu: 1001}\n",
         "2:24: rules.cpu must be a whole number from 0 to 1000, not '1001'"},
        {"rules:\n- nodes: a\n", "2:3: rules has no key 'nodes'; did you mean 'node'?"},
        {"rules:\n- a\n", "2:3: an entry of rules must have keys, such as 'node: ...', not a text"},
        {"rules: 1\n",
         "1:8: rules must have a list below it, whose entries begin with '- ', not a text"},
    };

    (void)state;
    ASSERT_REFUSED(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_rules_are_read_in_their_order),
        IN_FOLDER(test_rules_say_what_is_recorded),
        IN_FOLDER(test_bad_rules_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
