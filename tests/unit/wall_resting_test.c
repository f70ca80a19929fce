// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "session/wall.h"

enum { STRUCT = 64, FIRST = 0x1000, NOW = 1000 };

static struct vm vm = {.layout.sizeof_process = STRUCT};

struct process {
    uint8_t bytes[STRUCT];
    struct swept_process swept;
};

static void make(struct process *process, uint64_t number)
{
    memset(process, 0, sizeof(*process));
    memcpy(process->bytes, &number, sizeof(number));
    process->swept =
        (struct swept_process){.address = FIRST + number * STRUCT, .bytes = process->bytes};
}

static void put(struct wall_resting *resting, const struct process *process, uint32_t stack)
{
    const struct recording_totals totals = {.complete_stacks = 1, .frames = 7, .erlang_frames = 5};
    struct sample sample = {.stack = stack};

    metrics_set(&sample.metrics, METRIC_MEMORY, 1);
    wall_resting_put(resting, &process->swept, NOW, &sample, &totals);
}

static bool knows(const struct wall_resting *resting, const struct process *process)
{
    return wall_resting_knows(resting, &process->swept, NOW + 1);
}

static void test_process_is_known_until_it_changes(void **state)
{
    struct wall_resting *resting = wall_resting_new(&vm);
    struct process process;

    (void)state;
    make(&process, 1);
    assert_false(knows(resting, &process));
    put(resting, &process, 1);
    assert_true(knows(resting, &process));
    process.bytes[STRUCT - 1]++;
    assert_false(knows(resting, &process));
    wall_resting_free(resting);
}

/* One sample stands for all sweeps that found the process unchanged, and is taken once. */
static void test_owed_sweeps_are_taken_together(void **state)
{
    struct wall_resting *resting = wall_resting_new(&vm);
    struct recording_totals totals = {0};
    struct owed_time owed;
    struct sample sample;
    struct process process;

    (void)state;
    make(&process, 1);
    put(resting, &process, 9);
    assert_false(wall_resting_take(resting, process.swept.address, &sample, &owed, &totals));
    wall_resting_owe(resting, process.swept.address,
                     &(struct owed_time){.time = 10, .until = 20, .sweeps = 1});
    wall_resting_owe(resting, process.swept.address,
                     &(struct owed_time){.time = 30, .until = 50, .sweeps = 3});
    assert_true(wall_resting_take(resting, process.swept.address, &sample, &owed, &totals));
    assert_int_equal(sample.stack, 9);
    assert_int_equal(owed.time, 40);
    assert_int_equal(owed.until, 50);
    assert_int_equal(owed.sweeps, 4);
    assert_int_equal(totals.erlang_samples, 1);
    assert_int_equal(totals.frames, 7);
    assert_false(wall_resting_take(resting, process.swept.address, &sample, &owed, &totals));
    wall_resting_free(resting);
}

static void test_all_that_is_owed_is_taken(void **state)
{
    struct wall_resting *resting = wall_resting_new(&vm);
    struct recording_totals totals = {0};
    uint64_t time = 0, count = 0;
    struct owed_time owed;
    struct process process;
    struct sample sample;
    size_t next = 0;

    (void)state;
    for (uint64_t i = 0; i < 9; i++) {
        make(&process, i);
        put(resting, &process, 1);
        if (i % 2)
            wall_resting_owe(resting, process.swept.address,
                             &(struct owed_time){.time = i, .sweeps = 1});
    }
    for (; wall_resting_take_next(resting, &next, &sample, &owed, &totals); count++)
        time += owed.time;
    assert_int_equal(count, 4);
    assert_int_equal(time, 1 + 3 + 5 + 7);
    next = 0;
    assert_false(wall_resting_take_next(resting, &next, &sample, &owed, &totals));
    wall_resting_free(resting);
}

/* What is owed for a process must not vanish: a full memory takes no others until it is cleared. */
static void test_full_memory_keeps_what_it_has(void **state)
{
    struct wall_resting *resting = wall_resting_new(&vm);
    struct process process, first;

    (void)state;
    for (uint64_t i = 0; i <= RESTING_MAX; i++) {
        assert_int_equal(wall_resting_has_room(resting, 1), i < RESTING_MAX);
        make(&process, i);
        put(resting, &process, 1);
    }
    assert_false(knows(resting, &process));
    make(&first, 0);
    assert_true(knows(resting, &first));
    first.bytes[STRUCT - 1]++;
    put(resting, &first, 2);
    assert_true(knows(resting, &first));
    wall_resting_clear(resting);
    assert_false(knows(resting, &first));
    put(resting, &process, 1);
    assert_true(knows(resting, &process));
    wall_resting_free(resting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_process_is_known_until_it_changes),
        cmocka_unit_test(test_owed_sweeps_are_taken_together),
        cmocka_unit_test(test_all_that_is_owed_is_taken),
        cmocka_unit_test(test_full_memory_keeps_what_it_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
