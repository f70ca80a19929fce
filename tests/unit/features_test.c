// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "beam/features.h"
#include "native/cfi.h"

static struct features features(int release, const char *erts)
{
    struct build build = {.otp_release = release};

    strcpy(build.erts, erts);
    return features_of(&build);
}

/* A fact changes between two releases, and holds from then on. */
static void test_features_change_with_their_release(void **state)
{
    (void)state;
    assert_int_equal(features(24, "12.3").saved_top, CPU_R12);
    assert_int_equal(features(25, "13.2").saved_top, CPU_RBP);
    assert_true(features(24, "12.3").old_gdb_jit && !features(25, "13.2").old_gdb_jit);
    assert_true(!features(25, "13.2").wide_pids && features(26, "14.2").wide_pids);
    assert_true(!features(26, "14.2").binaries_in_bits && features(27, "15.2").binaries_in_bits);
    assert_int_equal(features(27, "15.2").alias_message, 3);
    assert_int_equal(features(28, "16.0").alias_message, 2);
}

static void test_features_differ_between_patches_of_a_release(void **state)
{
    (void)state;
    assert_true(features(25, "13.1.5").omits_writable_binaries);
    assert_false(features(25, "13.2").omits_writable_binaries);
    assert_false(features(24, "12.3").omits_writable_binaries);
}

/* Stacks that are apart from the machine stack are known of one release. */
static void test_stacks_apart_are_those_of_a_build_and_known_of_otp_25(void **state)
{
    const struct build native = {.otp_release = 25, .erts = "13.2", .native_stack = true};

    (void)state;
    assert_true(features_of(&native).native_stack && !features(25, "13.2").native_stack);
    assert_true(features(25, "13.2").apart_stacks_known);
    assert_false(features(24, "12.3").apart_stacks_known);
    assert_false(features(26, "14.2").apart_stacks_known);
}

/* A release that is newer than all known ones has the features of the newest. */
static void test_newer_release_has_the_features_of_the_newest_known(void **state)
{
    const struct features newest = features(NEWEST_RELEASE, "99");
    const struct features newer = features(NEWEST_RELEASE + 2, "99");

    (void)state;
    assert_int_equal(newer.wide_pids, newest.wide_pids);
    assert_int_equal(newer.binaries_in_bits, newest.binaries_in_bits);
    assert_int_equal(newer.fcalls_is_32_bits, newest.fcalls_is_32_bits);
    assert_int_equal(newer.saved_top, newest.saved_top);
    assert_int_equal(newer.alias_message, newest.alias_message);
    assert_int_equal(newer.has_leaf_frames, newest.has_leaf_frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_change_with_their_release),
        cmocka_unit_test(test_stacks_apart_are_those_of_a_build_and_known_of_otp_25),
        cmocka_unit_test(test_features_differ_between_patches_of_a_release),
        cmocka_unit_test(test_newer_release_has_the_features_of_the_newest_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
