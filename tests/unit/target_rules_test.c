// SPDX-License-Identifier: Apache-2.0
/* Which rule a VM matches. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "session/target_rules.h"

static const struct target_names shop = {.node = "shop@web-1",
                                         .container = "app",
                                         .container_id = "0123abcd",
                                         .name_space = "prod",
                                         .pod = "shop-7f9c-x2"};
static const struct target_names unknown = {"", "", "", "", ""};

static size_t find(struct target_rule rule, const struct target_names *names)
{
    return target_rules_find(&rule, 1, names);
}

static void test_each_given_pattern_must_match(void **state)
{
    (void)state;
    assert_int_equal(find((struct target_rule){.node = "shop@*"}, &shop), 0);
    assert_int_equal(find((struct target_rule){.node = "shop"}, &shop), 1);
    assert_int_equal(find((struct target_rule){.name_space = "pro?", .pod = "shop-*"}, &shop), 0);
    assert_int_equal(find((struct target_rule){.name_space = "test", .pod = "shop-*"}, &shop), 1);
    assert_int_equal(find((struct target_rule){.profile = true}, &shop), 0);
}

static void test_container_is_matched_by_name_or_id(void **state)
{
    (void)state;
    assert_int_equal(find((struct target_rule){.container = "app"}, &shop), 0);
    assert_int_equal(find((struct target_rule){.container = "0123*"}, &shop), 0);
    assert_int_equal(find((struct target_rule){.container = "db"}, &shop), 1);
}

static void test_unknown_names_match_only_what_may_be_empty(void **state)
{
    (void)state;
    assert_int_equal(find((struct target_rule){.pod = "?*"}, &unknown), 1);
    assert_int_equal(find((struct target_rule){.pod = "*"}, &unknown), 0);
}

static void test_first_rule_that_matches_wins(void **state)
{
    struct target_rule rules[] = {
        {.node = "till@*"}, {.pod = "shop-*", .profile = true}, {.node = "*"}};

    (void)state;
    assert_int_equal(target_rules_find(rules, 3, &shop), 1);
    assert_int_equal(target_rules_find(rules, 3, &unknown), 2);
    assert_int_equal(target_rules_find(rules, 0, &shop), 0);
}

/* Two rules record alike if they record the same, whatever their patterns are. */
static void test_rules_record_alike(void **state)
{
    const struct target_rule rule = {
        .node = "shop@*", .profile = true, .service = "shop", .plan = {true, 19, 1, 3}};
    struct target_rule others[6];

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        others[i] = rule;
        others[i].node = "till@*";
        assert_true(target_rules_record_alike(&rule, &others[i]));
    }
    others[0].profile = false;
    others[1].service = NULL;
    others[2].plan.cpu = false;
    others[3].plan.frequency = 20;
    others[4].plan.wall_frequency = 0;
    others[5].plan.events = 1;
    for (size_t i = 0; i < 6; i++)
        assert_false(target_rules_record_alike(&rule, &others[i]));
    others[1].profile = false; /* nothing is recorded by both */
    assert_true(target_rules_record_alike(&others[0], &others[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_given_pattern_must_match),
        cmocka_unit_test(test_container_is_matched_by_name_or_id),
        cmocka_unit_test(test_unknown_names_match_only_what_may_be_empty),
        cmocka_unit_test(test_first_rule_that_matches_wins),
        cmocka_unit_test(test_rules_record_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
