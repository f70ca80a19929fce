// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "beam/vm_internal.h"
#include "fake_code.h"

static struct fake_target *target;
static struct vm vm;

static uint64_t put_thread(void)
{
    uint64_t thread = fake_room(target, 64);

    fake_put_u64(target, thread, thread);
    return thread;
}

/* Write `count` schedulers of a type, `distance` bytes apart. */
static void put_schedulers(enum vm_scheduler_type type, uint32_t count, int32_t distance)
{
    uint64_t at = fake_room(target, (size_t)(count + 1) * (size_t)distance);

    vm.roots.schedulers[type] = at;
    for (uint32_t i = 0; i < count; i++, at += (uint64_t)distance) {
        int32_t number = type ? vm.layout.sched_dirty_no : vm.layout.sched_no;

        fake_put_u32(target, at + (uint64_t)vm.layout.sched_type, type);
        fake_put_u64(target, at + (uint64_t)number, i + 1);
        fake_put_u64(target, at + (uint64_t)vm.layout.sched_tid, put_thread());
    }
}

static void open_vm(void)
{
    target = fake_target_new();
    fake_vm(&vm, target, 26);
}

static void close_vm(void)
{
    free(vm.schedulers);
    free(target);
}

static void expect_counts(uint32_t normal, uint32_t dirty_cpu, uint32_t dirty_io)
{
    struct error error;

    assert_int_equal(schedulers_read(&vm, &error), 0);
    assert_int_equal(vm.scheduler_counts[VM_SCHEDULER_NORMAL], normal);
    assert_int_equal(vm.scheduler_counts[VM_SCHEDULER_DIRTY_CPU], dirty_cpu);
    assert_int_equal(vm.scheduler_counts[VM_SCHEDULER_DIRTY_IO], dirty_io);
    assert_int_equal(vm.scheduler_count, normal + dirty_cpu + dirty_io);
}

/* All schedulers are found, at the layout's distance or at one that differs by some cache lines. */
static void test_schedulers_are_found_at_a_distance_off_by_cache_lines(void **state)
{
    (void)state;
    for (int32_t lines = -16; lines <= 16; lines++) {
        int32_t distance;

        open_vm();
        distance = vm.layout.sizeof_sched_aligned + lines * 64;
        put_schedulers(VM_SCHEDULER_NORMAL, 3, distance);
        put_schedulers(VM_SCHEDULER_DIRTY_CPU, 1, distance);
        put_schedulers(VM_SCHEDULER_DIRTY_IO, 2, distance);
        expect_counts(3, 1, 2);
        assert_int_equal(vm.schedulers[2].data,
                         vm.roots.schedulers[VM_SCHEDULER_NORMAL] + 2 * (uint64_t)distance);
        close_vm();
    }
}

/* With one normal scheduler, the distance is found from the dirty ones. */
static void test_dirty_schedulers_give_the_distance_if_one_is_normal(void **state)
{
    int32_t distance;

    (void)state;
    open_vm();
    distance = vm.layout.sizeof_sched_aligned + 64;
    put_schedulers(VM_SCHEDULER_NORMAL, 1, distance);
    put_schedulers(VM_SCHEDULER_DIRTY_CPU, 1, distance);
    put_schedulers(VM_SCHEDULER_DIRTY_IO, 10, distance);
    expect_counts(1, 1, 10);
    close_vm();
}

/* A word that looks like a second scheduler, but has no thread, is not one. */
static void test_word_without_a_thread_is_no_second_scheduler(void **state)
{
    uint64_t at;

    (void)state;
    open_vm();
    for (int type = 0; type < 3; type++)
        put_schedulers(type, 1, vm.layout.sizeof_sched_aligned);
    at = vm.roots.schedulers[0] + (uint64_t)vm.layout.sizeof_sched_aligned - 64;
    fake_put_u64(target, at + (uint64_t)vm.layout.sched_no, 2);
    fake_put_u64(target, at + (uint64_t)vm.layout.sched_tid, 0x1234);
    expect_counts(1, 1, 1);
    close_vm();
}

/* A VM without all of its threads is refused, so that it is tried again. */
static void test_vm_without_all_of_its_threads_is_refused(void **state)
{
    struct error error;
    uint64_t second;

    (void)state;
    open_vm();
    for (int type = 0; type < 3; type++)
        put_schedulers(type, 2, vm.layout.sizeof_sched_aligned + 64);
    second = vm.roots.schedulers[0] + (uint64_t)vm.layout.sizeof_sched_aligned + 64;
    fake_put_u64(target, second + (uint64_t)vm.layout.sched_tid, 0);
    assert_int_equal(schedulers_read(&vm, &error), -1);
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    close_vm();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedulers_are_found_at_a_distance_off_by_cache_lines),
        cmocka_unit_test(test_dirty_schedulers_give_the_distance_if_one_is_normal),
        cmocka_unit_test(test_word_without_a_thread_is_no_second_scheduler),
        cmocka_unit_test(test_vm_without_all_of_its_threads_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
