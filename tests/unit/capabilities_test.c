// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <linux/capability.h>
#include <string.h>
#include <unistd.h>

#include "os/capabilities.h"

static const uint64_t ALL = ~(uint64_t)0;

static void test_effective_set_is_parsed_from_proc_status(void **state)
{
    uint64_t set = 1;

    (void)state;
    assert_true(capabilities_parse("Name:\tx\nCapPrm:\t00000000000000ff\n"
                                   "CapEff:\t000001ffffffffff\nCapBnd:\t0\n",
                                   &set));
    assert_true(set == 0x1ffffffffff);
    assert_true(capabilities_parse("Name:\tx\nCapEff:\t0000000000000000\n", &set));
    assert_true(set == 0);
    assert_false(capabilities_parse("", &set));
    assert_false(capabilities_parse("Name:\tx\nCapEff:\t-\n", &set));
    assert_false(capabilities_parse("Name:\tCapEff:\t1\n", &set));
}

static bool is_missing(const char *name, uint64_t set, unsigned int release)
{
    size_t count;
    const struct capability *needed = capabilities_needed(&count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(needed[i].name, name) == 0)
            return capability_is_missing(&needed[i], set, release);
    fail_msg("%s is not listed", name);
    return false;
}

static void test_each_capability_is_missing_without_its_bit(void **state)
{
    size_t count;
    const struct capability *needed = capabilities_needed(&count);

    (void)state;
    assert_true(count >= 5);
    for (size_t i = 0; i < count; i++) {
        assert_true(capability_is_missing(&needed[i], 0, KERNEL_RELEASE(5, 10)));
        assert_false(capability_is_missing(&needed[i], ALL, KERNEL_RELEASE(5, 10)));
    }
}

/* CAP_SYS_ADMIN stands for CAP_BPF and CAP_PERFMON, and for no other. */
static void test_sys_admin_stands_for_bpf_and_perfmon_only(void **state)
{
    const uint64_t admin = (uint64_t)1 << CAP_SYS_ADMIN;

    (void)state;
    assert_false(is_missing("CAP_BPF", admin, KERNEL_RELEASE(6, 1)));
    assert_false(is_missing("CAP_PERFMON", admin, KERNEL_RELEASE(6, 1)));
    assert_true(is_missing("CAP_SYS_PTRACE", admin, KERNEL_RELEASE(6, 1)));
    assert_true(is_missing("CAP_SYS_ADMIN", ALL & ~admin, KERNEL_RELEASE(6, 1)));
}

/* Locked memory limits BPF maps before 5.11 only. */
static void test_sys_resource_is_needed_before_kernel_5_11_only(void **state)
{
    (void)state;
    assert_true(is_missing("CAP_SYS_RESOURCE", 0, KERNEL_RELEASE(5, 10)));
    assert_false(is_missing("CAP_SYS_RESOURCE", 0, KERNEL_RELEASE(5, 11)));
}

/* Without the user id 0, a process has no capabilities. */
static void test_root_has_capabilities(void **state)
{
    uint64_t set = 0;

    (void)state;
    assert_true(capabilities_of_self(&set));
    if (geteuid() == 0)
        assert_true(set != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_effective_set_is_parsed_from_proc_status),
        cmocka_unit_test(test_each_capability_is_missing_without_its_bit),
        cmocka_unit_test(test_sys_admin_stands_for_bpf_and_perfmon_only),
        cmocka_unit_test(test_sys_resource_is_needed_before_kernel_5_11_only),
        cmocka_unit_test(test_root_has_capabilities),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
