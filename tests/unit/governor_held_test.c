// SPDX-License-Identifier: Apache-2.0
/* Probes of a process that ends, or that would have to be waited for. */
#include "governed.h"

/* The end of the target causes no error and no hang. */
static void test_end_of_the_target_is_no_error(void **state)
{
    struct profiler *profiler;
    struct error error;

    (void)state;
    for (int rate = 100; rate <= 100000; rate *= 1000) {
        profiler = start(rate);
        usleep(300000);
        target_kill(&profiler->target);
        usleep(700000);
        governor_stop(profiler->governor);
        assert_int_equal(governor_error(profiler->governor, 0, &error), 0);
        end(profiler);
    }
}

/* True if the target is probed at some time within half a second. */
static bool gets_probed(const struct profiler *profiler)
{
    uint64_t until = clock_ns(CLOCK_MONOTONIC) + SECOND / 2;

    while (clock_ns(CLOCK_MONOTONIC) < until)
        if (target_is_probed(&profiler->target))
            return true;
    return false;
}

/* While the target holds the lock of its memory map, which attaching would wait for, no window
 * begins. */
static void test_no_window_begins_while_the_target_is_held(void **state)
{
    struct profiler *profiler = start(50000);

    (void)state;
    profiler->is_held = true;
    usleep(300000); /* the last window ends */
    assert_false(gets_probed(profiler));
    profiler->is_held = false;
    assert_true(gets_probed(profiler));
    end(profiler);
}

/* While the target is held, detached probes are handed over by keep(). */
static void test_probes_of_a_held_target_are_kept(void **state)
{
    struct profiler *profiler = start(30);

    (void)state;
    profiler->is_held = true;
    assert_int_equal(profiler->kept, 0);
    governor_stop(profiler->governor);
    assert_int_equal(profiler->kept, 1);
    end(profiler);
}

/* The governor starts soon. Its first window begins when the target is free. */
static void test_target_that_is_held_from_the_start_is_probed_later(void **state)
{
    struct profiler *profiler = prepare(1000, false);
    uint64_t began = clock_ns(CLOCK_MONOTONIC);
    struct error error = {0};

    (void)state;
    profiler->is_held = true;
    assert_int_equal(add(profiler, profiler->point.file_offset), 0);
    assert_int_equal(governor_start(profiler->governor, &error), 0);
    assert_true(clock_ns(CLOCK_MONOTONIC) - began < SECOND);
    assert_false(gets_probed(profiler));
    profiler->is_held = false;
    assert_true(gets_probed(profiler));
    assert_int_equal(governor_error(profiler->governor, 0, &error), 0);
    end(profiler);
}

/* The end comes before the target is free. It is no error. */
static void test_governor_of_a_held_target_can_be_stopped(void **state)
{
    struct profiler *profiler = prepare(1000, false);
    struct error error = {0};

    (void)state;
    profiler->is_held = true;
    assert_int_equal(add(profiler, profiler->point.file_offset), 0);
    assert_int_equal(governor_start(profiler->governor, &error), 0);
    governor_stop(profiler->governor);
    assert_int_equal(governor_error(profiler->governor, 0, &error), 0);
    assert_int_equal(profiler->kept, 0);
    end(profiler);
}

static void test_group_that_cannot_be_attached_is_refused_alone(void **state)
{
    struct profiler *profiler;
    struct error error = {0};
    uint64_t hits;

    (void)state;
    profiler = prepare(1000, false);
    assert_int_equal(add(profiler, 1ull << 40), 0);
    assert_int_equal(add(profiler, profiler->point.file_offset), 1);
    assert_int_equal(governor_start(profiler->governor, &error), 0);
    assert_int_equal(governor_error(profiler->governor, 0, &error), -1);
    assert_int_equal(error.code, ERROR_FAILED);
    assert_int_equal(governor_error(profiler->governor, 1, &error), 0);
    hits = profiler->skeleton->bss->hits;
    for (int i = 0; i < 1000 && *(volatile __u64 *)&profiler->skeleton->bss->hits == hits; i++)
        usleep(10000);
    assert_true(*(volatile __u64 *)&profiler->skeleton->bss->hits > hits);
    assert_true(governor_status(profiler->governor, 0).share == 0);
    end(profiler);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end_of_the_target_is_no_error),
        cmocka_unit_test(test_no_window_begins_while_the_target_is_held),
        cmocka_unit_test(test_probes_of_a_held_target_are_kept),
        cmocka_unit_test(test_target_that_is_held_from_the_start_is_probed_later),
        cmocka_unit_test(test_governor_of_a_held_target_can_be_stopped),
        cmocka_unit_test(test_group_that_cannot_be_attached_is_refused_alone),
    };
    int code;

    target_main(count, arguments);
    if (!calibrated(&calibration, &code))
        return code;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
