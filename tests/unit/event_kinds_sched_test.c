// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "capture/event_kinds.h"
#include "profile/events.h"

static void assert_part(const struct event_part *part, enum process_status status, uint64_t wait,
                        uint64_t delay, uint64_t count)
{
    assert_int_equal(part->status, status);
    assert_true(part->shows_status);
    assert_int_equal(part->values[SCHED_WAIT], wait);
    assert_int_equal(part->values[SCHED_DELAY], delay);
    assert_int_equal(part->values[SCHED_COUNT], count);
    assert_int_equal(part->values[SCHED_LONG], 0);
}

static struct wire_hit hit_of(uint32_t left, uint64_t wait, uint64_t delay)
{
    return (struct wire_hit){.kind = left,
                             .values = {
                                 [SCHED_WAIT] = wait,
                                 [SCHED_DELAY] = delay,
                                 [SCHED_COUNT] = 1,
                             }};
}

/* Time waiting and time in a run queue are separate parts, and the hit counts once. */
static void test_waiting_and_run_queue_time_are_separate_parts(void **state)
{
    struct wire_hit hit = hit_of(WIRE_SCHED_WAITING, 1000, 300);
    struct event_part parts[EVENT_PARTS_MAX];

    (void)state;
    assert_int_equal(event_kind_sched_parts(&hit, parts), 2);
    assert_part(&parts[0], STATUS_WAITING, 700, 0, 1);
    assert_part(&parts[1], STATUS_RUNNABLE, 300, 300, 0);
}

static void test_hit_with_one_kind_of_time_has_one_part(void **state)
{
    struct wire_hit preempted = hit_of(WIRE_SCHED_REDUCTIONS, 300, 300);
    struct wire_hit waiting = hit_of(WIRE_SCHED_WAITING, 300, 0);
    struct wire_hit nothing = hit_of(WIRE_SCHED_YIELDED, 0, 0);
    struct event_part parts[EVENT_PARTS_MAX];

    (void)state;
    assert_int_equal(event_kind_sched_parts(&preempted, parts), 1);
    assert_part(&parts[0], STATUS_RUNNABLE, 300, 300, 1);
    assert_int_equal(event_kind_sched_parts(&waiting, parts), 1);
    assert_part(&parts[0], STATUS_WAITING, 300, 0, 1);
    assert_int_equal(event_kind_sched_parts(&nothing, parts), 1);
    assert_part(&parts[0], STATUS_RUNNABLE, 0, 0, 1);
}

/* A process that was scheduled out with work left, and is in no run queue, is suspended. */
static void test_process_off_the_queue_with_work_left_is_suspended(void **state)
{
    static const struct {
        uint32_t left;
        enum process_status status;
    } cases[] = {
        {WIRE_SCHED_REDUCTIONS, STATUS_SUSPENDED}, {WIRE_SCHED_YIELDED, STATUS_SUSPENDED},
        {WIRE_SCHED_SUSPENDED, STATUS_SUSPENDED},  {WIRE_SCHED_EXITING, STATUS_EXITING},
        {WIRE_SCHED_UNKNOWN, STATUS_WAITING},
    };
    struct event_part parts[EVENT_PARTS_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wire_hit hit = hit_of(cases[i].left, 50, 0);

        assert_int_equal(event_kind_sched_parts(&hit, parts), 1);
        assert_part(&parts[0], cases[i].status, 50, 0, 1);
    }
}

/* Each part of a long schedule is a sample of its own; the last part has the status. */
static void test_each_part_of_a_long_schedule_is_a_sample(void **state)
{
    struct wire_hit hit = {.kind = WIRE_SCHED_LONG, .values = {[SCHED_LONG] = 20}};
    struct event_part parts[EVENT_PARTS_MAX];

    (void)state;
    assert_int_equal(event_kind_sched_parts(&hit, parts), 1);
    assert_int_equal(parts[0].status, STATUS_RUNNING);
    assert_int_equal(parts[0].values[SCHED_LONG], 20);
    assert_int_equal(parts[0].values[SCHED_COUNT], 0);
    assert_false(parts[0].shows_status);
    hit.kind = WIRE_SCHED_LONG_END + WIRE_SCHED_WAITING;
    assert_int_equal(event_kind_sched_parts(&hit, parts), 1);
    assert_int_equal(parts[0].status, STATUS_WAITING);
    hit.kind = WIRE_SCHED_LONG_END + WIRE_SCHED_REDUCTIONS;
    assert_int_equal(event_kind_sched_parts(&hit, parts), 1);
    assert_int_equal(parts[0].status, STATUS_RUNNABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waiting_and_run_queue_time_are_separate_parts),
        cmocka_unit_test(test_hit_with_one_kind_of_time_has_one_part),
        cmocka_unit_test(test_process_off_the_queue_with_work_left_is_suspended),
        cmocka_unit_test(test_each_part_of_a_long_schedule_is_a_sample),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
