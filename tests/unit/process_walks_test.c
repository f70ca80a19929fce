// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_target.h"
#include "symbol/processes_internal.h"

#define SECOND ((uint64_t)1000000000)

enum { PROCESSES = 500, PID = 0x2a83 };

static struct fake_target *target;
static struct vm vm;
static struct process_walks *walks;
static uint64_t processes[PROCESSES];

static void set(uint64_t process, int32_t offset, uint64_t value)
{
    fake_put_u64(target, process + (uint64_t)offset, value);
}

static int start(void **state)
{
    const struct layout *layout = &vm.layout;

    (void)state;
    target = fake_target_new();
    vm = (struct vm){.memory = &target->memory};
    fake_release(&vm, 27);
    for (int i = 0; i < PROCESSES; i++) {
        processes[i] = fake_room(target, (size_t)layout->sizeof_process);
        set(processes[i], layout->process_id, PID);
        set(processes[i], layout->process_heap_sz, 233);
        set(processes[i], layout->process_arg_reg,
            processes[i] + (uint64_t)layout->process_def_arg_reg);
    }
    walks = process_walks_new(&vm);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    process_walks_free(walks);
    free(target);
    return 0;
}

static bool is_known(int process, uint64_t id, uint64_t time)
{
    struct metrics metrics = {0};

    process_walks_add(walks, processes[process], id, time, &metrics);
    return metrics_know(&metrics, METRIC_MEMORY);
}

static void test_process_is_walked_once_a_second(void **state)
{
    (void)state;
    assert_true(is_known(0, PID, 10 * SECOND));
    assert_false(is_known(0, PID, 10 * SECOND + SECOND / 2));
    assert_true(is_known(1, PID, 10 * SECOND + SECOND / 2));
    assert_false(is_known(0, PID, 9 * SECOND)); /* an old sample that arrives late */
    assert_true(is_known(0, PID, 11 * SECOND));
    process_walks_set_pace(walks, 5 * SECOND);
    assert_false(is_known(0, PID, 16 * SECOND - 1));
    assert_true(is_known(0, PID, 16 * SECOND));
}

/* The memory of the process contains another one by now. */
static void test_reused_memory_of_a_process_is_not_walked(void **state)
{
    (void)state;
    assert_false(is_known(0, PID + 1, 10 * SECOND));
}

/* Metrics that the sample has stay as they are. */
static void test_walk_keeps_known_metrics(void **state)
{
    struct metrics metrics = {0};

    (void)state;
    metrics_set(&metrics, METRIC_HEAP, 7);
    process_walks_add(walks, processes[0], PID, SECOND, &metrics);
    assert_int_equal(metrics.values[METRIC_HEAP], 7);
    assert_true(metrics_know(&metrics, METRIC_MEMORY));
    assert_false(metrics_know(&metrics, METRIC_YOUNG));
}

/* Each process has a chain of references that takes 100 reads, so a second suffices for some of the
 * 500. After a while each has had its turn. */
static void test_all_processes_have_their_turn(void **state)
{
    bool had[PROCESSES] = {false};
    int first_second = 0, count = 0;
    uint64_t chain = 0;

    (void)state;
    for (int i = 0; i < 100; i++)
        chain = FAKE_WORDS(target, 3 << 6, 0, chain); /* not binaries */
    for (int i = 0; i < PROCESSES; i++)
        set(processes[i], vm.layout.process_off_heap_first, chain);
    for (uint64_t tenth = 0; tenth < 200; tenth++) {
        for (int i = 0; i < PROCESSES; i++)
            had[i] |= is_known(i, PID, 10 * SECOND + tenth * SECOND / 10);
        for (int i = 0; tenth == 9 && i < PROCESSES; i++)
            first_second += had[i];
    }
    for (int i = 0; i < PROCESSES; i++)
        count += had[i];
    assert_in_range(first_second, 50, 150);
    assert_int_equal(count, PROCESSES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_process_is_walked_once_a_second, start, stop),
        cmocka_unit_test_setup_teardown(test_reused_memory_of_a_process_is_not_walked, start, stop),
        cmocka_unit_test_setup_teardown(test_walk_keeps_known_metrics, start, stop),
        cmocka_unit_test_setup_teardown(test_all_processes_have_their_turn, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
