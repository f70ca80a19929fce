// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "calibrated.h"
#include "capture/calibration.h"
#include "capture/probe_safety.h"
#include "os/process.h"
#include "waiting_child.h"

static const struct probe_site entry = {.path = "/no/file"};
static const struct probe_site returns = {.path = "/no/file", .is_return = true};

static struct calibration calibration;

/* Install a seccomp filter that allows everything. */
static bool install_filter(void)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {.len = 1, .filter = &allow};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void test_filter_of_system_calls_is_found(void **state)
{
    pid_t pid = child_start(NULL);

    (void)state;
    assert_false(process_filters_calls(pid));
    child_end(pid);
    assert_false(process_filters_calls(pid));
    pid = child_start(install_filter);
    assert_true(process_filters_calls(pid));
    child_end(pid);
}

static void test_no_danger_without_a_filter_or_return_probes(void **state)
{
    struct error error = {0};
    pid_t pid = child_start(NULL);

    (void)state;
    assert_int_equal(probe_safety_check_returns(calibration.way, pid, &returns, 1, &error), 0);
    child_end(pid);
    assert_int_equal(probe_safety_check_returns(calibration.way, pid, &returns, 1, &error), 0);
    pid = child_start(install_filter);
    assert_int_equal(probe_safety_check_returns(calibration.way, pid, &entry, 1, &error), 0);
    child_end(pid);
}

/* With both, the kernel version decides: before 6.11 and since 6.14 there is no danger. */
static void test_kernel_version_decides_the_danger_of_a_filter(void **state)
{
    const struct probe_site sites[] = {entry, returns};
    int major = 0, minor = 0, result;
    struct error error = {0};
    struct utsname name;
    pid_t pid;

    (void)state;
    pid = child_start(install_filter);
    result = probe_safety_check_returns(calibration.way, pid, sites, 2, &error);
    child_end(pid);
    assert_int_equal(uname(&name), 0);
    assert_int_equal(sscanf(name.release, "%d.%d", &major, &minor), 2);
    if (major == 6 && minor >= 11 && minor <= 13)
        skip();
    assert_int_equal(result, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter_of_system_calls_is_found),
        cmocka_unit_test(test_no_danger_without_a_filter_or_return_probes),
        cmocka_unit_test(test_kernel_version_decides_the_danger_of_a_filter),
    };
    int code;

    if (!calibrated(&calibration, &code))
        return code;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
