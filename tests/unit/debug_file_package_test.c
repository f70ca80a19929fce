// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "native/debug_file.h"
#include "native/mappings.h"

static void test_debian_and_its_relatives_have_a_debug_package(void **state)
{
    (void)state;
    assert_string_equal(debug_file_package_of_release("NAME=\"Debian\"\nID=debian\n"),
                        "erlang-base-dbgsym");
    assert_string_equal(debug_file_package_of_release("ID=linuxmint\nID_LIKE=\"ubuntu debian\""),
                        "erlang-base-dbgsym");
    assert_null(debug_file_package_of_release("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"));
    assert_null(debug_file_package_of_release("ID=alpine\n"));
    assert_null(debug_file_package_of_release("NAME=debian\nVERSION_ID=debian\n"));
    assert_null(debug_file_package_of_release("ID=debianish\n"));
    assert_null(debug_file_package_of_release("ID="));
    assert_null(debug_file_package_of_release(""));
}

/* The path has the build id. A file from elsewhere is of no package. */
static void test_advice_names_the_path_of_the_build_id(void **state)
{
    struct elf_file file = {
        .path = (char *)"/opt/erlang/bin/beam.smp",
        .root = (char *)"/",
        .build_id = {.bytes = {0xab, 0xcd, 0xef}, .size = 3},
    };
    char text[512];

    (void)state;
    debug_file_advice(&file, text, sizeof(text));
    assert_string_equal(text, "install its debug symbols as "
                              "/usr/lib/debug/.build-id/ab/cdef.debug, or record with "
                              "--symbols PATH|URL");
    file.build_id.size = 0;
    debug_file_advice(&file, text, sizeof(text));
    assert_null(strstr(text, ".build-id"));
    assert_non_null(strstr(text, "not stripped"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_debian_and_its_relatives_have_a_debug_package),
        cmocka_unit_test(test_advice_names_the_path_of_the_build_id),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
