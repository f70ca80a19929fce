// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "session/findings.h"

static void test_findings_are_kept_in_order(void **state)
{
    struct findings findings = {0};

    (void)state;
    findings_ok(&findings, "one", "%d", 1);
    findings_warning(&findings, "two", "wait", "late by %s", "a day");
    findings_missing(&findings, "three", ERROR_PERMISSION, "ask", "no key");
    assert_int_equal(findings.count, 3);
    assert_string_equal(findings.all[0].found, "1");
    assert_string_equal(findings.all[0].advice, "");
    assert_int_equal(findings.all[0].status, FINDING_OK);
    assert_string_equal(findings.all[1].check, "two");
    assert_string_equal(findings.all[1].found, "late by a day");
    assert_string_equal(findings.all[1].advice, "wait");
    assert_int_equal(findings.all[2].code, ERROR_PERMISSION);
    assert_string_equal(finding_status_name(findings.all[2].status), "missing");
    findings_cut(&findings, 2);
    assert_int_equal(findings.count, 2);
    assert_int_equal(findings_worst(&findings), ERROR_NONE);
    findings_ok(&findings, "four", "4");
    assert_string_equal(findings.all[2].check, "four");
    findings_free(&findings);
    assert_int_equal(findings.count, 0);
}

/* Warnings do not count; of those that are missing, the highest code does. */
static void test_worst_finding_is_the_highest_code_that_is_missing(void **state)
{
    struct findings findings = {0};

    (void)state;
    assert_int_equal(findings_worst(&findings), ERROR_NONE);
    findings_ok(&findings, "a", "x");
    findings_warning(&findings, "b", "y", "x");
    assert_int_equal(findings_worst(&findings), ERROR_NONE);
    findings_missing(&findings, "c", ERROR_NO_PROCESS, "y", "x");
    assert_int_equal(findings_worst(&findings), ERROR_NO_PROCESS);
    findings_missing(&findings, "d", ERROR_UNSUPPORTED, "y", "x");
    findings_missing(&findings, "e", ERROR_PERMISSION, "y", "x");
    assert_int_equal(findings_worst(&findings), ERROR_UNSUPPORTED);
    findings_free(&findings);
}

/* A text of any length is cut, not overrun. */
static void test_long_text_is_cut(void **state)
{
    struct findings findings = {0};
    char text[5000];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    findings_ok(&findings, "long", "%s", text);
    assert_in_range(strlen(findings.all[0].found), 1000, 1100);
    findings_free(&findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_findings_are_kept_in_order),
        cmocka_unit_test(test_worst_finding_is_the_highest_code_that_is_missing),
        cmocka_unit_test(test_long_text_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
