// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "util/attribute_list.h"

static void assert_value(const char *list, const char *key, const char *expected)
{
    char *value = attribute_list_find(list, key);

    if (expected)
        assert_string_equal(value, expected);
    else
        assert_null(value);
    free(value);
}

static void test_what_is_put_is_found(void **state)
{
    struct buffer list = {0};

    (void)state;
    attribute_list_put(&list, "service.name", "shop, \"a=b\" 100%");
    attribute_list_put(&list, "k8s.pod.name", "caf\xc3\xa9");
    buffer_byte(&list, '\0');
    assert_string_equal(list.data, "service.name=shop%2C%20%22a%3Db%22%20100%25,"
                                   "k8s.pod.name=caf%C3%A9");
    assert_value(list.data, "service.name", "shop, \"a=b\" 100%");
    assert_value(list.data, "k8s.pod.name", "caf\xc3\xa9");
    assert_value(list.data, "service", NULL);
    buffer_free(&list);
}

/* People write blanks, forget values, and end lists with a comma. */
static void test_lists_that_people_write_are_read(void **state)
{
    (void)state;
    assert_value(" a = 1 , b=2,", "a", "1");
    assert_value(" a = 1 , b=2,", "b", "2");
    assert_value("a,b=2", "a", NULL);
    assert_value("a,b=2", "b", "2");
    assert_value("a=1=2", "a", "1=2");
    assert_value("a=", "a", "");
    assert_value("a=50%", "a", "50%");
    assert_value("", "a", NULL);
    assert_value(",,=,", "a", NULL);
    assert_value("a=1,a=2", "a", "1");
}

static void test_values_are_safe_to_show(void **state)
{
    (void)state;
    assert_value("a=%1B[31m%0A\x07%E2%80%AEb%FF", "a", "\ufffd[31m\ufffd\ufffd\ufffdb\ufffd");
    assert_value("a=x%00y", "a", "x\ufffdy");
    assert_value("\x1b=1", "\ufffd", "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_put_is_found),
        cmocka_unit_test(test_lists_that_people_write_are_read),
        cmocka_unit_test(test_values_are_safe_to_show),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
