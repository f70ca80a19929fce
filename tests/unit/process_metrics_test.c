// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "beam/process_metrics.h"
#include "fake_target.h"

enum { RUNNING = 1 << 15, ON_HEAP = 1 << 1, OFF_HEAP = 1 << 0, DELAYED_LENGTH = 1 << 6 };

static struct vm vm;
static uint8_t bytes[1024];
static struct metrics metrics;

static void set(int32_t offset, uint64_t value)
{
    assert_true(offset >= 0);
    memcpy(bytes + offset, &value, sizeof(value));
}

static void set_u32(int32_t offset, uint32_t value)
{
    memcpy(bytes + offset, &value, sizeof(value));
}

/* A process at rest of this release, with nothing in its queue. */
static void start(int release)
{
    const struct layout *layout = &vm.layout;

    vm = (struct vm){.layout = fake_layout(release)};
    memset(bytes, 0, sizeof(bytes));
    set(layout->process_reds, 5000);
    set(layout->process_heap, 0x10000);
    set(layout->process_stop, 0x10000 + 200 * 8);
    set(layout->process_hend, 0x10000 + 233 * 8);
    set(layout->process_heap_sz, 233);
    set(layout->process_old_heap, 0x20000);
    set(layout->process_old_hend, 0x20000 + 610 * 8);
    set(layout->process_mbuf_sz, 12);
    set(layout->process_off_heap_overhead, 77);
    set_u32(layout->process_msgq_flags, ON_HEAP);
    memcpy(bytes + layout->process_gen_gcs, &(uint16_t){3}, 2);
}

static void set_lengths(uint64_t inner, uint64_t outer)
{
    const struct layout *layout = &vm.layout;
    bool apart = layout->process_msgq_mq_len >= 0;

    set(apart ? layout->process_msgq_mq_len : layout->process_msgq_len, inner);
    set(apart ? layout->process_inq_mlenoffs : layout->process_inq_len, outer);
}

static void check(enum metric metric, uint64_t value)
{
    process_metrics_read(&vm, bytes, NULL, &metrics);
    assert_true(metrics_know(&metrics, metric));
    assert_int_equal(metrics.values[metric], value);
}

static void check_unknown(enum metric metric)
{
    process_metrics_read(&vm, bytes, NULL, &metrics);
    assert_false(metrics_know(&metrics, metric));
    assert_int_equal(metrics.values[metric], 0);
}

static void test_at_rest(void **state)
{
    (void)state;
    for (int release = 24; release <= 29; release++) {
        start(release);
        check(METRIC_REDUCTIONS, 5000);
        check(METRIC_MSGQ, 0);
        check(METRIC_MBUF, 12);
        check(METRIC_HEAP, 233 + 610 + 12);
        check(METRIC_STACK, 33);
        check(METRIC_YOUNG, 233);
        check(METRIC_OLD, 610);
        check(METRIC_BIN_VHEAP, 77);
        check(METRIC_MINOR_GCS, 3);
        check_unknown(METRIC_MEMORY);
        check_unknown(METRIC_BINARIES);
    }
}

static void test_no_old_heap(void **state)
{
    (void)state;
    start(27);
    set(vm.layout.process_old_heap, 0);
    set(vm.layout.process_old_hend, 0);
    check(METRIC_OLD, 0);
    check(METRIC_HEAP, 233 + 12);
}

static void test_queue(void **state)
{
    (void)state;
    for (int release = 24; release <= 29; release++) {
        start(release);
        set_lengths(1000, 7);
        check(METRIC_MSGQ, 1007);
        check_unknown(METRIC_HEAP); /* only the messages know where they lie */
        check_unknown(METRIC_MBUF);
        check(METRIC_YOUNG, 233);
        set_u32(vm.layout.process_msgq_flags, OFF_HEAP);
        check(METRIC_HEAP, 233 + 610 + 12);
    }
}

/* Signals that are no messages wait among them: how many messages that makes is not in the struct.
 */
static void test_queue_with_signals(void **state)
{
    (void)state;
    start(27);
    set_lengths(1, 1);
    set(vm.layout.process_inq_nmsigs, 0x1234);
    check_unknown(METRIC_MSGQ);
    check_unknown(METRIC_HEAP);
    start(25);
    set_lengths(1, 1);
    set(vm.layout.process_inq_nmsigs, 0x1234);
    check(METRIC_MSGQ, 2);
    set_u32(vm.layout.process_msgq_flags, ON_HEAP | DELAYED_LENGTH);
    check_unknown(METRIC_MSGQ);
}

static void test_queue_in_buffers(void **state)
{
    (void)state;
    start(29);
    set(vm.layout.process_inq_buffers, 0x1234);
    check_unknown(METRIC_MSGQ);
    check_unknown(METRIC_HEAP);
}

static void test_running(void **state)
{
    struct process_registers registers = {
        .stop = 0x10000 + 190 * 8, .fcalls = 3000, .virtual_reds = 100};

    (void)state;
    start(29);
    set_u32(vm.layout.process_state, RUNNING);
    set(vm.layout.process_def_arg_reg + 5 * 8, 4000);
    check(METRIC_REDUCTIONS, 5000);
    check_unknown(METRIC_STACK);
    process_metrics_read(&vm, bytes, &registers, &metrics);
    assert_int_equal(metrics.values[METRIC_REDUCTIONS], 5900);
    assert_int_equal(metrics.values[METRIC_STACK], 43);
    registers.stop = 0;
    process_metrics_read(&vm, bytes, &registers, &metrics);
    assert_false(metrics_know(&metrics, METRIC_STACK));
}

/* Half-way through a collection, stop is still in the old heap. */
static void test_moving_stack(void **state)
{
    (void)state;
    start(27);
    set(vm.layout.process_stop, 0x30000);
    check_unknown(METRIC_STACK);
    set(vm.layout.process_stop, 0x8000);
    check_unknown(METRIC_STACK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_rest),
        cmocka_unit_test(test_no_old_heap),
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_queue_with_signals),
        cmocka_unit_test(test_queue_in_buffers),
        cmocka_unit_test(test_running),
        cmocka_unit_test(test_moving_stack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
