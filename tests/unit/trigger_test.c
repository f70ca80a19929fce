// SPDX-License-Identifier: Apache-2.0
/* Trigger conditions in their written form. (Invalid ones: tests/e2e/trigger_test.py.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "session/trigger.h"

/* Kind, metric, process and limit are parsed. */
static void test_conditions_are_parsed(void **state)
{
    static const struct {
        const char *text;
        enum trigger_kind kind;
        enum metric metric;
        const char *process;
        double limit;
    } cases[] = {
        {"cpu>80%", TRIGGER_CPU, 0, NULL, 80},
        {"cpu > 12.5", TRIGGER_CPU, 0, NULL, 12.5},
        {"gc>30%", TRIGGER_GC, 0, NULL, 30},
        {"memory>2G", TRIGGER_MEMORY, 0, NULL, 2147483648.0},
        {"memory>1.5k", TRIGGER_MEMORY, 0, NULL, 1536},
        {"memory>4096", TRIGGER_MEMORY, 0, NULL, 4096},
        {"runq>0", TRIGGER_RUNQ, 0, NULL, 0},
        {" msgq >10000 ", TRIGGER_PROCESS, METRIC_MSGQ, NULL, 10000},
        {"heap>1e6", TRIGGER_PROCESS, METRIC_HEAP, NULL, 1e6},
        {"process cart msgq>5", TRIGGER_PROCESS, METRIC_MSGQ, "cart", 5},
        {"process <0.85.0>  stack>5", TRIGGER_PROCESS, METRIC_STACK, "<0.85.0>", 5},
        {"process {my pool, 3} bin_vheap>5", TRIGGER_PROCESS, METRIC_BIN_VHEAP, "{my pool, 3}", 5},
        {"exit", TRIGGER_EXIT, 0, NULL, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct trigger trigger;
        struct error error = {0};

        assert_int_equal(trigger_parse(cases[i].text, &trigger, &error), 0);
        assert_int_equal(trigger.kind, cases[i].kind);
        assert_int_equal(trigger.metric, cases[i].metric);
        assert_true(trigger.limit == cases[i].limit);
        if (cases[i].process)
            assert_string_equal(trigger.process, cases[i].process);
        else
            assert_null(trigger.process);
        trigger_free(&trigger);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_conditions_are_parsed)};

    return cmocka_run_group_tests_name("trigger", tests, NULL, NULL);
}
