// SPDX-License-Identifier: Apache-2.0
/* Probes of a live process are kept within their budget. */
#include "governed.h"

/* On a busy machine there are few windows, and some close late. So some tests have several
 * attempts. */
static bool holds_once(bool (*check)(void))
{
    for (int i = 0; i < 6; i++)
        if (check())
            return true;
    return false;
}

/* A cheap group is open all of the time: every call counts once, and windows adjoin. A thread
 * counts a call after it has made it. */
static void test_cheap_group_stays_open_and_counts_every_call(void **state)
{
    struct profiler *profiler;
    struct governor_status status;
    uint64_t calls, all, from, to;
    double scale;

    (void)state;
    profiler = start(30);
    from = clock_ns(CLOCK_MONOTONIC);
    calls = target_calls(&profiler->target);
    usleep(2500000);
    calls = target_calls(&profiler->target) - calls;
    to = clock_ns(CLOCK_MONOTONIC);
    status = governor_status(profiler->governor, 0);
    assert_true(status.continuous);
    assert_true(status.run_ns > calibration.trap_ns[TRAP_EMULATED]);
    assert_int_equal(governor_scale(profiler->governor, 0, from, 0, &scale), WINDOW_SCALE);
    assert_true(scale == 1);
    assert_int_equal(governor_scale(profiler->governor, 0, to, 0, &scale), WINDOW_SCALE);
    assert_int_equal(governor_scale(profiler->governor, 0, from - SECOND, 0, &scale),
                     WINDOW_OUTSIDE);
    assert_int_equal(profiler->period, 1);
    governor_stop(profiler->governor);
    all = target_calls(&profiler->target) + TARGET_THREADS;
    assert_false(target_is_probed(&profiler->target));
    take_windows(profiler);
    assert_in_range(profiler->windows, 3, 3 + (to - from) / SECOND);
    assert_true(profiler->window.represents >= to - from);
    assert_in_range(profiler->window.hits, calls - TARGET_THREADS, all);
    /* and hits between the end of the window and that of the probes */
    assert_in_range(profiler->skeleton->bss->hits, profiler->window.hits, all);
    end(profiler);
}

/* The window of a group that stays open can be cut at any time, without losing hits. */
static void test_open_window_is_cut_without_losing_hits(void **state)
{
    struct profiler *profiler;
    uint64_t first, calls;

    (void)state;
    profiler = start(30);
    first = target_calls(&profiler->target) + TARGET_THREADS;
    usleep(300000);
    calls = target_calls(&profiler->target);
    governor_cut(profiler->governor);
    take_windows(profiler);
    assert_true(profiler->windows >= 1);
    assert_in_range(profiler->window.hits, calls - first,
                    target_calls(&profiler->target) + TARGET_THREADS);
    usleep(300000);
    calls = target_calls(&profiler->target);
    governor_stop(profiler->governor);
    governor_cut(profiler->governor);
    take_windows(profiler);
    assert_true(profiler->windows >= 2);
    assert_in_range(profiler->window.hits, calls - first,
                    target_calls(&profiler->target) + TARGET_THREADS);
    end(profiler);
}

/* True if about the calls before and after a pause were counted. */
static bool check_pause(void)
{
    struct profiler *profiler = start(1000);
    struct governor_status status;
    uint64_t first, paused, resumed;
    bool good;

    first = target_calls(&profiler->target);
    usleep(500000);
    governor_pause(profiler->governor);
    paused = target_calls(&profiler->target);
    assert_false(target_is_probed(&profiler->target));
    sleep(2);
    assert_false(target_is_probed(&profiler->target));
    resumed = target_calls(&profiler->target);
    governor_resume(profiler->governor);
    sleep(1);
    governor_stop(profiler->governor);
    take_windows(profiler);
    status = governor_status(profiler->governor, 0);
    assert_in_range(profiler->window.hits, 0,
                    target_calls(&profiler->target) - (resumed - paused) + TARGET_THREADS);
    good = (double)(resumed - paused) > rate_here(500) && profiler->windows >= 2 &&
           profiler->window.hits > (paused - first) / 2 && status.represented_ns >= SECOND &&
           status.represented_ns <= 2 * SECOND;
    end(profiler);
    return good;
}

/* In a pause no probe is attached, and no call counts. Calls count again after it. */
static void test_pause_detaches_and_counts_nothing(void **state)
{
    (void)state;
    assert_true(holds_once(check_pause));
}

/* Within a factor of two. */
static bool is_near(double value, double expected)
{
    return value > expected / 2 && value < expected * 2;
}

/* True if the windows of a few seconds have about the expected hits, times and costs. */
static bool check_expensive(void)
{
    struct profiler *profiler = start(50000);
    struct governor_status status;
    uint64_t calls = target_calls(&profiler->target);
    double earned;
    bool good;

    sleep(5);
    calls = target_calls(&profiler->target) - calls;
    governor_stop(profiler->governor);
    status = governor_status(profiler->governor, 0);
    assert_false(target_is_probed(&profiler->target));
    assert_false(profiler->open);
    take_windows(profiler);
    assert_int_equal(profiler->windows, status.windows);
    assert_true(profiler->period > 1);
    /* The income is a twentieth of the target's CPU time, which is assumed to be a tenth of a CPU
     * at least. The cost of the last windows may exceed it, because future income pays for them. */
    earned = 0.05 * fmax((double)status.target_cpu_ns, 0.1 * (double)status.elapsed_ns);
    good = profiler->windows > 3 && (double)status.covered_ns < 0.2 * (double)status.elapsed_ns &&
           is_near((double)profiler->window.hits, (double)calls) &&
           is_near((double)status.represented_ns, (double)status.elapsed_ns) &&
           /* The target's work is its calls; each of them is a hit. */
           fabs((double)profiler->window.work.count / (double)profiler->hits - 1) < 0.05 &&
           (double)status.spent_ns < 1.2 * earned + 2 * (double)status.spent_ns / status.windows;
    end(profiler);
    return good;
}

/* An expensive group is open in windows, whose strata add up to all of the time. */
static void test_strata_of_an_expensive_group_add_up_to_all_time(void **state)
{
    (void)state;
    assert_true(holds_once(check_expensive));
}

/* A window may take all stacks of its stratum from its first hit on: it does not begin with the
 * period of the group that was open all of the time. */
static void test_window_begins_with_its_own_period(void **state)
{
    struct profiler *profiler = start(50000);

    (void)state;
    for (int i = 0; i < 100 && !profiler->window_period; i++)
        usleep(100000);
    governor_stop(profiler->governor);
    assert_true(profiler->window_last > 1);
    assert_in_range(profiler->window_period, 1, profiler->window_last / 4);
    end(profiler);
}

/* Wake the governor if an alarm is due, as the BPF programs do. */
static void ring_alarm(const struct profiler *profiler, uint64_t *rung)
{
    uint64_t hits = *(volatile __u64 *)&profiler->skeleton->bss->hits;

    if (!profiler->alarm || hits - *rung < profiler->alarm)
        return;
    *rung = hits;
    governor_wake(profiler->governor);
}

/* Return the ns from a hundredfold increase of the rate until the group is closed. */
static uint64_t close_after_jump(bool with_alarms)
{
    struct profiler *profiler = begin(with_alarms ? 1 : 200, with_alarms);
    uint64_t jumped, rung, took;

    sleep(1);
    assert_true(target_is_probed(&profiler->target));
    assert_true(!with_alarms == !profiler->alarm); /* with alarms, it sleeps */
    profiler->target.state->rate = rate_here(50000);
    rung = profiler->skeleton->bss->hits;
    jumped = clock_ns(CLOCK_MONOTONIC);
    while (target_is_probed(&profiler->target) && clock_ns(CLOCK_MONOTONIC) < jumped + SECOND) {
        ring_alarm(profiler, &rung);
        usleep(1000);
    }
    took = clock_ns(CLOCK_MONOTONIC) - jumped;
    end(profiler);
    return took;
}

/* The best of several attempts counts, because the machine may be busy. */
static void check_jump(bool with_alarms)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < 5 && best > 200 * MS; i++) {
        uint64_t took = close_after_jump(with_alarms);

        best = took < best ? took : best;
    }
    assert_in_range(best, 0, 200 * MS);
}

/* After a hundredfold increase of the rate, the group is closed within 200 ms. */
static void test_group_closes_within_200_ms_of_a_rate_jump(void **state)
{
    (void)state;
    check_jump(false);
}

/* So it is if the governor slept. */
static void test_alarm_wakes_a_governor_that_sleeps(void **state)
{
    (void)state;
    check_jump(true);
}

/* Without hits, a governor with alarms looks at the counts every few seconds; else 20 times a
 * second. It has set the period for the next hits before: each gives a sample.
 */
static void test_governor_of_an_idle_target_sleeps(void **state)
{
    struct profiler *profiler = prepare(0, true);
    struct error error;
    int looks;

    (void)state;
    kill(profiler->target.pid, SIGSTOP); /* it uses no CPU time, too */
    assert_int_equal(add(profiler, profiler->point.file_offset), 0);
    assert_int_equal(governor_start(profiler->governor, &error), 0);
    usleep(500000);
    assert_true(profiler->alarm > 0);
    assert_int_equal(profiler->alarm & (profiler->alarm - 1), 0);
    assert_int_equal(profiler->period, 1);
    looks = profiler->looks;
    sleep(2);
    assert_in_range(profiler->looks - looks, 0, 5); /* at most five for a window */
    end(profiler);
}

/* Soon after the last hit the governor sleeps again, however large the hits were: the period of
 * samples does not follow a rate that fades for more than a second. */
static void test_governor_sleeps_soon_after_the_last_hit(void **state)
{
    struct profiler *profiler = prepare(100, true);
    struct error error;
    int looks;

    (void)state;
    profiler->size = SECOND;
    assert_int_equal(add(profiler, profiler->point.file_offset), 0);
    assert_int_equal(governor_start(profiler->governor, &error), 0);
    usleep(500000);
    profiler->target.state->rate = 0;
    governor_wake(profiler->governor);
    usleep(600000);
    looks = profiler->looks;
    usleep(400000);
    assert_in_range(profiler->looks - looks, 0, 5);
    end(profiler);
}

/* True if the windows of a group that stayed open, and is closed after a jump of the rate, stand
 * for themselves and adjoin. */
static bool check_stayed_open(void)
{
    struct profiler *profiler = start(200);
    struct governor_window window;
    uint64_t last_end = 0;
    int windows = 0;
    bool good = true;

    usleep(1500000);
    profiler->target.state->rate = rate_here(50000);
    for (int i = 0; i < 5000 && target_is_probed(&profiler->target); i++)
        usleep(1000);
    governor_stop(profiler->governor);
    while (governor_window(profiler->governor, &window) && (!windows || window.start == last_end)) {
        good = good && window.represents == window.end - window.start;
        last_end = window.end;
        windows++;
    }
    end(profiler);
    return good && windows >= 2 && windows <= 8;
}

/* All windows of a group that stayed open stand for themselves, also the last one. */
static void test_windows_of_a_group_that_stayed_open_stand_for_themselves(void **state)
{
    (void)state;
    assert_true(holds_once(check_stayed_open));
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cheap_group_stays_open_and_counts_every_call),
        cmocka_unit_test(test_open_window_is_cut_without_losing_hits),
        cmocka_unit_test(test_pause_detaches_and_counts_nothing),
        cmocka_unit_test(test_strata_of_an_expensive_group_add_up_to_all_time),
        cmocka_unit_test(test_window_begins_with_its_own_period),
        cmocka_unit_test(test_group_closes_within_200_ms_of_a_rate_jump),
        cmocka_unit_test(test_alarm_wakes_a_governor_that_sleeps),
        cmocka_unit_test(test_governor_of_an_idle_target_sleeps),
        cmocka_unit_test(test_governor_sleeps_soon_after_the_last_hit),
        cmocka_unit_test(test_windows_of_a_group_that_stayed_open_stand_for_themselves),
    };
    int code;

    target_main(count, arguments);
    if (!calibrated(&calibration, &code))
        return code;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
