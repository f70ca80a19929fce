// SPDX-License-Identifier: Apache-2.0
/* What a session can't take of a configuration that is good by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/agent.h"
#include "config_file.h"

static void test_configurations_that_can_not_be_recorded_are_refused(void **state)
{
    static const struct {
        const char *text, *message; /* NULL: it is good */
    } cases[] = {
        {"record: {cpu: 0, wall: 0, events: ''}",
         "nothing is recorded: set record.cpu, record.wall or record.events"},
        {"record: {cpu: 0, wall: 0, events: ''}\nrules: [{node: a, profile: true, wall: 1}]", NULL},
        {"record: {cpu: 0, wall: 0, events: gc}", NULL},
        {"record: {cpu: 1, wall: 0, events: ''}", NULL},
        {"record: {cpu: 0}\ntriggers: [{when: gc>1}]",
         "a trigger gc>PERCENT% needs CPU samples: set record.cpu"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct agent_config config = good_config(cases[i].text);
        struct error error = {0};

        assert_int_equal(agent_check(&config, &error), cases[i].message ? -1 : 0);
        assert_string_equal(error.text, cases[i].message ? cases[i].message : "");
        agent_config_free(&config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_configurations_that_can_not_be_recorded_are_refused)};

    return cmocka_run_group_tests_name("agent_session", tests, NULL, NULL);
}
