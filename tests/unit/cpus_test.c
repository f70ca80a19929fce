// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <unistd.h>

#include "os/kernel_settings.h"

enum { CPUS = 8 };

static void assert_parses(const char *list, const char *expected)
{
    bool online[CPUS] = {[3] = true};

    assert_true(cpus_parse(list, online, CPUS));
    for (int cpu = 0; cpu < CPUS; cpu++)
        assert_int_equal(online[cpu], expected[cpu] == '1');
}

static void test_lists_of_cpus_are_parsed(void **state)
{
    (void)state;
    assert_parses("0\n", "10000000");
    assert_parses("0-1\n", "11000000");
    assert_parses("0-1,4,6-7\n", "11001011");
    assert_parses("2-18446744073709551615", "00111111");
    assert_parses("9,1", "01000000");
}

static void test_text_that_is_no_list_of_cpus_is_refused(void **state)
{
    static const char *const bad[] = {"", "\n", "-1", "0-", "0,", "0-1;2", "a"};
    bool online[CPUS];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(cpus_parse(bad[i], online, CPUS));
}

/* As many as sysconf(3) says. */
static void test_cpus_of_this_machine_are_online(void **state)
{
    bool online[4096];
    long count = 0;

    (void)state;
    assert_true(cpus_online(online, sizeof(online)));
    for (size_t cpu = 0; cpu < sizeof(online); cpu++)
        count += online[cpu];
    assert_int_equal(count, sysconf(_SC_NPROCESSORS_ONLN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_of_cpus_are_parsed),
        cmocka_unit_test(test_text_that_is_no_list_of_cpus_is_refused),
        cmocka_unit_test(test_cpus_of_this_machine_are_online),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
