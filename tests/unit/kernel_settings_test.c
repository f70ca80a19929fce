// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "os/capabilities.h"
#include "os/kernel_settings.h"

static void test_kernel_release_is_parsed_and_compared(void **state)
{
    struct utsname name;

    (void)state;
    assert_int_equal(kernel_release_parse("5.10.0-46-cloud-amd64"), KERNEL_RELEASE(5, 10));
    assert_int_equal(kernel_release_parse("6.1"), KERNEL_RELEASE(6, 1));
    assert_true(kernel_release_parse("5.9.300") < KERNEL_RELEASE(5, 10));
    assert_true(kernel_release_parse("10.0.1") > KERNEL_RELEASE(5, 10));
    assert_int_equal(kernel_release_parse("linux"), 0);
    assert_int_equal(kernel_release_parse("6"), 0);
    assert_int_equal(kernel_release_parse("999.1"), 0);
    assert_int_equal(uname(&name), 0);
    assert_true(kernel_release_parse(name.release) > KERNEL_RELEASE(4, 0));
}

/* Write `text` to a file, and return its path. */
static const char *file_of(const char *text)
{
    static char path[] = "/tmp/beamflame-setting-XXXXXX";
    int fd;

    memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
    fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    return path;
}

static void check_number(const char *text, bool is_number, long expected)
{
    const char *path = file_of(text);
    long number = 12345;

    assert_int_equal(kernel_setting_number(path, &number), is_number);
    assert_int_equal(number, is_number ? expected : 12345);
    unlink(path);
}

static void test_setting_that_is_not_a_number_is_refused(void **state)
{
    (void)state;
    check_number("100000\n", true, 100000);
    check_number("-1\n", true, -1);
    check_number("4", true, 4);
    check_number("", false, 0);
    check_number("\n", false, 0);
    check_number("tsc\n", false, 0);
    check_number("4 5\n", false, 0);
}

/* Only the first line counts, and a long one is cut. */
static void test_first_line_of_a_setting_is_its_text(void **state)
{
    const char *path = file_of("kvm-clock\ntsc\n");
    char text[64], small[4];

    (void)state;
    assert_true(kernel_setting(path, text, sizeof(text)));
    assert_string_equal(text, "kvm-clock");
    assert_true(kernel_setting(path, small, sizeof(small)));
    assert_string_equal(small, "kvm");
    unlink(path);
    assert_false(kernel_setting(path, text, sizeof(text)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_release_is_parsed_and_compared),
        cmocka_unit_test(test_setting_that_is_not_a_number_is_refused),
        cmocka_unit_test(test_first_line_of_a_setting_is_its_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
