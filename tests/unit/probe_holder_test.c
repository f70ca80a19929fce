// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/probe_holder.h"
#include "waiting_child.h"

enum { TARGET = 4711 };

#define MULTI(type, pid)                                                                           \
    "pos:\t0\nflags:\t02\nlink_type:\t" type "\nlink_id:\t7\n" pid "path:\t/x\ncookie\t offset\n"

/* Newer kernels say which process is probed; 0 is every process. */
static void test_link_of_probes_holds_those_of_its_process(void **state)
{
    (void)state;
    assert_int_equal(probe_holder_use(MULTI("uprobe_multi", "pid:\t4711\n"), TARGET), LINK_PROBES);
    assert_int_equal(probe_holder_use(MULTI("uretprobe_multi", "pid:\t4711\n"), TARGET),
                     LINK_PROBES);
    assert_int_equal(probe_holder_use(MULTI("uprobe_multi", "pid:\t0\n"), TARGET), LINK_PROBES);
    assert_int_equal(probe_holder_use(MULTI("uprobe_multi", ""), TARGET), LINK_PROBES);
    assert_int_equal(probe_holder_use(MULTI("uprobe_multi", "pid:\t47110\n"), TARGET), LINK_OTHER);
    assert_int_equal(probe_holder_use(MULTI("uretprobe_multi", "pid:\t1\n"), TARGET), LINK_OTHER);
}

/* A perf event may be a clock or a probe; older kernels do not say which. */
static void test_link_of_a_perf_event_is_a_clock_or_a_probe(void **state)
{
    (void)state;
    assert_int_equal(probe_holder_use("link_type:\tperf\nevent_type:\tevent\n", TARGET),
                     LINK_EVENT);
    assert_int_equal(probe_holder_use("link_type:\tperf\nevent_type:\tuprobe\n", TARGET),
                     LINK_PROBES);
    assert_int_equal(probe_holder_use("link_type:\tperf\nevent_type:\turetprobe\n", TARGET),
                     LINK_PROBES);
    assert_int_equal(probe_holder_use("link_type:\tperf\n", TARGET), LINK_PROBES);
}

static void test_other_links_hold_no_probes(void **state)
{
    (void)state;
    assert_int_equal(probe_holder_use("link_type:\tcgroup\nlink_id:\t7\n", TARGET), LINK_OTHER);
    assert_int_equal(probe_holder_use("link_type:\tkprobe_multi\npid:\t4711\n", TARGET),
                     LINK_OTHER);
    assert_int_equal(probe_holder_use("x link_type:\tuprobe_multi\n", TARGET), LINK_OTHER);
    assert_int_equal(probe_holder_use("link_type:\t", TARGET), LINK_OTHER);
    assert_int_equal(probe_holder_use("", TARGET), LINK_OTHER);
}

/* A perf event, as it could be that of a probe. */
static bool open_event(void)
{
    struct perf_event_attr attributes = {
        .size = sizeof(attributes),
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .disabled = 1,
        .exclude_kernel = 1,
    };

    return syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0) >= 0;
}

static void test_process_with_an_open_perf_event_holds_probes(void **state)
{
    pid_t pid = child_start(NULL);
    char name[16];

    (void)state;
    assert_false(probe_holder_holds(pid, TARGET));
    child_end(pid);
    pid = child_start(open_event);
    assert_true(probe_holder_holds(pid, TARGET));
    assert_int_not_equal(probe_holder(TARGET, name, sizeof(name)), 0);
    assert_int_not_equal(strlen(name), 0);
    child_end(pid);
    assert_false(probe_holder_holds(pid, TARGET));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_link_of_probes_holds_those_of_its_process),
        cmocka_unit_test(test_link_of_a_perf_event_is_a_clock_or_a_probe),
        cmocka_unit_test(test_other_links_hold_no_probes),
        cmocka_unit_test(test_process_with_an_open_perf_event_holds_probes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
