// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "beam/process_metrics.h"
#include "beam/process_walk.h"
#include "beam/term.h"
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

/* Make a process at rest of this release, with an empty queue. */
static void start(int release)
{
    const struct layout *layout = &vm.layout;

    vm = (struct vm){0};
    fake_release(&vm, release);
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
    set(layout->process_bin_old_vheap, 88);
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

static void test_resting_process_has_its_metrics_in_each_release(void **state)
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
        check(METRIC_OLD_VHEAP, 88);
        check(METRIC_MINOR_GCS, 3);
        check_unknown(METRIC_MEMORY);
        check_unknown(METRIC_BINARIES);
    }
}

static void test_process_without_an_old_heap_has_old_0(void **state)
{
    (void)state;
    start(27);
    set(vm.layout.process_old_heap, 0);
    set(vm.layout.process_old_hend, 0);
    check(METRIC_OLD, 0);
    check(METRIC_HEAP, 233 + 12);
}

static void test_length_of_the_queue_is_the_sum_of_both_queues(void **state)
{
    (void)state;
    for (int release = 24; release <= 29; release++) {
        start(release);
        set_lengths(1000, 7);
        check(METRIC_MSGQ, 1007);
        check_unknown(METRIC_HEAP); /* only the messages contain their fragments' sizes */
        check_unknown(METRIC_MBUF);
        check(METRIC_YOUNG, 233);
        set_u32(vm.layout.process_msgq_flags, OFF_HEAP);
        check(METRIC_HEAP, 233 + 610 + 12);
    }
}

/* The queue contains signals other than messages, so the struct does not give the number of
 * messages. */
static void test_length_of_a_queue_with_other_signals_is_unknown(void **state)
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

static void test_length_of_a_queue_in_buffers_is_unknown(void **state)
{
    (void)state;
    start(29);
    set(vm.layout.process_inq_buffers, 0x1234);
    check_unknown(METRIC_MSGQ);
    check_unknown(METRIC_HEAP);
}

static void test_metrics_of_a_running_process_come_from_its_registers(void **state)
{
    struct process_registers registers = {.stop = 0x10000 + 190 * 8,
                                          .reductions = REDUCTIONS_LEFT,
                                          .fcalls = 3000,
                                          .virtual_reds = 100};

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
    registers.reductions = REDUCTIONS_COUNTED;
    process_metrics_read(&vm, bytes, &registers, &metrics);
    assert_false(metrics_know(&metrics, METRIC_STACK));
    assert_int_equal(metrics.values[METRIC_REDUCTIONS], 5000);
    registers.reductions = REDUCTIONS_UNKNOWN;
    process_metrics_read(&vm, bytes, &registers, &metrics);
    assert_false(metrics_know(&metrics, METRIC_REDUCTIONS));
    registers = (struct process_registers){.reductions = REDUCTIONS_LEFT, .fcalls = 4001};
    process_metrics_read(&vm, bytes, &registers, &metrics);
    assert_false(metrics_know(&metrics, METRIC_REDUCTIONS)); /* more than its budget */
}

/* During a collection, `stop` still points into the old heap. */
static void test_stack_size_is_unknown_during_a_collection(void **state)
{
    (void)state;
    start(27);
    set(vm.layout.process_stop, 0x30000);
    check_unknown(METRIC_STACK);
    set(vm.layout.process_stop, 0x8000);
    check_unknown(METRIC_STACK);
}

/* The stack of a process that hibernates without data can take its whole heap. */
static void test_stack_can_take_the_whole_heap(void **state)
{
    (void)state;
    start(25);
    set(vm.layout.process_stop, 0x10000);
    check(METRIC_STACK, 233);
}

/* A process and the data that it refers to. */
struct parts {
    struct fake_target *target;
    uint64_t process;
};

static void put(const struct parts *parts, uint64_t address, int32_t offset, uint64_t value)
{
    fake_put_u64(parts->target, address + (uint64_t)offset, value);
}

/* Add a message before `next`, with a fragment of `words` in it, or 0. */
static uint64_t message(const struct parts *parts, uint64_t next, uint64_t words)
{
    const struct layout *layout = &vm.layout;
    uint64_t at = fake_room(parts->target, (size_t)layout->sizeof_message);

    put(parts, at, layout->message_next, next);
    put(parts, at, layout->message_data, words ? 1 : 0);
    put(parts, at, layout->message_m, fake_small(1));
    if (words)
        put(parts, at, layout->message_hfrag + layout->heap_fragment_used_size, words);
    return at;
}

/* Add a node to a tree, with the pointers in the order of the fields. */
static uint64_t link_node(const struct parts *parts, uint64_t parent)
{
    uint64_t at = fake_room(parts->target, (size_t)vm.layout.sizeof_relation);

    put(parts, at, vm.layout.relation_parent, parent);
    return at;
}

/* Make a process with two messages, two links and a binary with two references. */
static struct parts start_parts(void)
{
    const struct layout *layout = &vm.layout;
    struct parts parts = {.target = fake_target_new()};
    uint64_t root, child, binary, reference;

    start(27);
    vm.memory = &parts.target->memory;
    root = link_node(&parts, 0);
    child = link_node(&parts, root | 1);
    put(&parts, root, layout->relation_left, child);
    set(layout->process_links, root);
    binary = FAKE_WORDS(parts.target, 0, 0, 1, 5000);
    reference = FAKE_WORDS(parts.target, 2 << 6 | BIN_REF_SUBTAG, binary, 0);
    reference = FAKE_WORDS(parts.target, 2 << 6 | BIN_REF_SUBTAG, binary, reference);
    set(layout->process_off_heap_first, reference);
    set(layout->process_msgq_first, message(&parts, message(&parts, 0, 10), 0));
    set_lengths(2, 0);
    parts.process = fake_room(parts.target, (size_t)layout->sizeof_process);
    set(layout->process_arg_reg, parts.process + (uint64_t)layout->process_def_arg_reg);
    fake_put(parts.target, parts.process, bytes, (size_t)layout->sizeof_process);
    return parts;
}

static void walk_parts(const struct parts *parts, size_t reads)
{
    process_metrics_read(&vm, bytes, NULL, &metrics);
    process_walk_metrics(&vm, parts->process, bytes, reads, &metrics);
}

static void test_walk_adds_up_memory_and_binaries(void **state)
{
    struct parts parts = start_parts();

    (void)state;
    walk_parts(&parts, PROCESS_READS_MAX);
    assert_int_equal(metrics.values[METRIC_MEMORY],
                     vm.layout.sizeof_process + 8 * (233 + 610 + 12) + 2 * 48 + 2 * 88 + 8 * 10);
    assert_int_equal(metrics.values[METRIC_HEAP], 233 + 610 + 12 + 10);
    assert_int_equal(metrics.values[METRIC_MBUF], 12);
    assert_int_equal(metrics.values[METRIC_BINARIES], 5000);
    free(parts.target);
}

static void test_walk_with_too_few_reads_leaves_metrics_unknown(void **state)
{
    struct parts parts = start_parts();

    (void)state;
    for (size_t reads = 0; reads < 8; reads++) {
        walk_parts(&parts, reads);
        assert_false(metrics_know(&metrics, METRIC_BINARIES));
        assert_int_equal(metrics_know(&metrics, METRIC_MEMORY), reads >= 5);
        assert_int_equal(metrics_know(&metrics, METRIC_HEAP), reads >= 3);
    }
    walk_parts(&parts, 8);
    assert_true(metrics_know(&metrics, METRIC_BINARIES));
    free(parts.target);
}

static void test_walk_of_a_changing_process_leaves_memory_unknown(void **state)
{
    struct parts parts = start_parts();

    (void)state;
    put(&parts, parts.process, vm.layout.process_inq_last, 0x1234);
    walk_parts(&parts, PROCESS_READS_MAX);
    assert_false(metrics_know(&metrics, METRIC_MEMORY));
    assert_false(metrics_know(&metrics, METRIC_BINARIES));
    assert_true(metrics_know(&metrics, METRIC_YOUNG));
    free(parts.target);
}

/* A node that a pointer leads to without being its child: the tree has changed. */
static void test_walk_of_a_changed_tree_leaves_memory_unknown(void **state)
{
    struct parts parts = start_parts();
    uint64_t root;

    (void)state;
    memcpy(&root, bytes + vm.layout.process_links, sizeof(root));
    put(&parts, root, vm.layout.relation_right, root);
    walk_parts(&parts, PROCESS_READS_MAX);
    assert_false(metrics_know(&metrics, METRIC_MEMORY));
    assert_true(metrics_know(&metrics, METRIC_HEAP));
    free(parts.target);
}

/* A message that is not decoded yet does not contain its decoded size. */
static void test_walk_of_an_encoded_message_leaves_memory_unknown(void **state)
{
    struct parts parts = start_parts();
    uint64_t first;

    (void)state;
    memcpy(&first, bytes + vm.layout.process_msgq_first, sizeof(first));
    put(&parts, first, vm.layout.message_m, 0);
    walk_parts(&parts, PROCESS_READS_MAX);
    assert_false(metrics_know(&metrics, METRIC_MEMORY));
    assert_false(metrics_know(&metrics, METRIC_HEAP));
    assert_true(metrics_know(&metrics, METRIC_BINARIES));
    free(parts.target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resting_process_has_its_metrics_in_each_release),
        cmocka_unit_test(test_process_without_an_old_heap_has_old_0),
        cmocka_unit_test(test_length_of_the_queue_is_the_sum_of_both_queues),
        cmocka_unit_test(test_length_of_a_queue_with_other_signals_is_unknown),
        cmocka_unit_test(test_length_of_a_queue_in_buffers_is_unknown),
        cmocka_unit_test(test_metrics_of_a_running_process_come_from_its_registers),
        cmocka_unit_test(test_stack_size_is_unknown_during_a_collection),
        cmocka_unit_test(test_stack_can_take_the_whole_heap),
        cmocka_unit_test(test_walk_adds_up_memory_and_binaries),
        cmocka_unit_test(test_walk_with_too_few_reads_leaves_metrics_unknown),
        cmocka_unit_test(test_walk_of_a_changing_process_leaves_memory_unknown),
        cmocka_unit_test(test_walk_of_a_changed_tree_leaves_memory_unknown),
        cmocka_unit_test(test_walk_of_an_encoded_message_leaves_memory_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
