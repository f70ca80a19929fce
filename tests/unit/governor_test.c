// SPDX-License-Identifier: Apache-2.0
/* Probes of a live process are kept within their budget. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "calibration.skel.h"
#include "capture/governor.h"
#include "probe_target.h"
#include "calibrated.h"

#define MS     1000000ull
#define SECOND 1000000000ull

static struct calibration calibration;

struct profiler {
    struct target target;
    struct calibration_bpf *skeleton;
    struct probe_point point;
    struct governor *governor;
    struct governor_window window; /* the sum of all windows */
    uint64_t hits;                 /* in windows, not scaled */
    int windows;
    uint64_t period;
    uint64_t last_period;                /* the one before `period` */
    uint64_t window_last, window_period; /* both, when the first window of a stratum began */
    bool open;
    _Atomic bool is_held; /* attaching would wait for the target */
    _Atomic int kept;     /* groups that were detached meanwhile */
};

/* ---- callbacks ---- */

static void counts(void *context, unsigned group, struct probe_counts *result)
{
    const struct profiler *profiler = context;
    uint64_t hits = *(volatile __u64 *)&profiler->skeleton->bss->hits;

    (void)group;
    *result = (struct probe_counts){.runs = hits, .hits = hits, .size = hits, .values = {2 * hits}};
}

static void set_open(void *context, unsigned group, enum wire_open open)
{
    struct profiler *profiler = context;

    (void)group;
    assert_true((open != WIRE_CLOSED) != profiler->open);
    if (open == WIRE_OPEN_FOR_A_WINDOW && !profiler->window_period) {
        profiler->window_period = profiler->period;
        profiler->window_last = profiler->last_period;
    }
    profiler->open = open != WIRE_CLOSED;
}

static void set_period(void *context, unsigned group, uint64_t period)
{
    struct profiler *profiler = context;

    (void)group;
    profiler->last_period = profiler->period;
    profiler->period = period;
}

static struct vm_work work(void *context, int group)
{
    uint64_t calls = target_calls(&((struct profiler *)context)->target);

    (void)group;
    return (struct vm_work){calls, calls};
}

static pid_t held_by(void *context, enum probe_change change)
{
    (void)change;
    return ((const struct profiler *)context)->is_held ? 1 : 0;
}

static void keep(void *context, const struct probe_links *links)
{
    assert_non_null(links);
    ((struct profiler *)context)->kept++;
}

/* ---- a profiler and its target ---- */

static struct profiler *prepare(double rate)
{
    struct profiler *profiler = calloc(1, sizeof(*profiler));
    struct governor_options options = {
        .part = 0.05,
        .stack_ns = 3000,
        .stacks_per_second = 1000,
        .calibration = &calibration,
        .callbacks = {profiler, counts, set_open, set_period, work, held_by, keep},
    };
    struct error error;

    assert_non_null(profiler);
    profiler->target = target_start();
    profiler->skeleton = calibration_bpf__open();
    assert_non_null(profiler->skeleton);
    probe_link_prepare(profiler->skeleton->progs.count_hit, calibration.way);
    assert_int_equal(calibration_bpf__load(profiler->skeleton), 0);
    assert_int_equal(probe_link_point(profiler->target.mappings, profiler->target.state->address,
                                      &profiler->point, &error),
                     0);
    options.pid = profiler->target.pid;
    profiler->governor = governor_new(&options);
    profiler->target.state->rate = rate;
    return profiler;
}

static unsigned add(struct profiler *profiler, uint64_t file_offset)
{
    const struct probe_site site = {
        .program = profiler->skeleton->progs.count_hit,
        .path = profiler->point.path,
        .file_offset = file_offset,
    };

    return governor_add(profiler->governor, &site, 1);
}

static struct profiler *start(double rate)
{
    struct profiler *profiler = prepare(rate);
    struct error error = {0};

    assert_int_equal(add(profiler, profiler->point.file_offset), 0);
    assert_int_equal(governor_start(profiler->governor, &error), 0);
    assert_int_equal(governor_error(profiler->governor, 0, &error), 0);
    return profiler;
}

static void end(struct profiler *profiler)
{
    governor_free(profiler->governor);
    calibration_bpf__destroy(profiler->skeleton);
    target_kill(&profiler->target);
    target_free(&profiler->target);
    free(profiler);
}

/* Take the windows: they come in order, do not overlap, and represent no less time than they
 * cover. */
static void take_windows(struct profiler *profiler)
{
    struct governor_window window;

    while (governor_window(profiler->governor, &window)) {
        assert_int_equal(window.group, 0);
        assert_true(window.start >= profiler->window.end && window.end >= window.start);
        assert_true(window.represents >= window.end - window.start);
        assert_int_equal(window.values[0], 2 * window.hits);
        profiler->windows++;
        profiler->window.end = window.end;
        profiler->window.represents += window.represents;
        profiler->window.work.count += window.work.count;
        profiler->hits += window.hits;
        if (window.end > window.start)
            profiler->window.hits += (uint64_t)((double)window.hits * (double)window.represents /
                                                (double)(window.end - window.start));
    }
}

/* ---- tests ---- */

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

/* An expensive group is open in windows, whose strata add up to all of the time. The test has
 * several attempts: on a busy machine there are few windows, and some close late. */
static void test_strata_of_an_expensive_group_add_up_to_all_time(void **state)
{
    bool good = false;

    (void)state;
    for (int i = 0; i < 6 && !good; i++)
        good = check_expensive();
    assert_true(good);
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

/* After a hundredfold increase of the rate, the group is closed within 200 ms. The best of several
 * attempts counts, because the machine may be busy. */
static void test_group_closes_within_200_ms_of_a_rate_jump(void **state)
{
    uint64_t best = UINT64_MAX;

    (void)state;
    for (int i = 0; i < 5 && best > 200 * MS; i++) {
        struct profiler *profiler;
        uint64_t jumped;

        profiler = start(200);
        sleep(1);
        assert_true(target_is_probed(&profiler->target));
        profiler->target.state->rate = 50000;
        jumped = clock_ns(CLOCK_MONOTONIC);
        while (target_is_probed(&profiler->target) && clock_ns(CLOCK_MONOTONIC) < jumped + SECOND)
            usleep(1000);
        if (clock_ns(CLOCK_MONOTONIC) - jumped < best)
            best = clock_ns(CLOCK_MONOTONIC) - jumped;
        end(profiler);
    }
    assert_in_range(best, 0, 200 * MS);
}

/* A group that stayed open and is closed after a jump of the rate: all its windows stand for
 * themselves, also the last one. They adjoin. */
static void test_windows_of_a_group_that_stayed_open_stand_for_themselves(void **state)
{
    struct profiler *profiler = start(200);
    struct governor_window window;
    uint64_t last_end = 0;
    int windows = 0;

    (void)state;
    usleep(1500000);
    profiler->target.state->rate = 50000;
    for (int i = 0; i < 5000 && target_is_probed(&profiler->target); i++)
        usleep(1000);
    governor_stop(profiler->governor);
    while (governor_window(profiler->governor, &window) && (!windows || window.start == last_end)) {
        assert_true(window.represents == window.end - window.start);
        last_end = window.end;
        windows++;
    }
    assert_in_range(windows, 2, 8);
    end(profiler);
}

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

/* Probes that are detached meanwhile are kept by others. */
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
    struct profiler *profiler = prepare(1000);
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
    struct profiler *profiler = prepare(1000);
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
    profiler = prepare(1000);
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
        cmocka_unit_test(test_cheap_group_stays_open_and_counts_every_call),
        cmocka_unit_test(test_strata_of_an_expensive_group_add_up_to_all_time),
        cmocka_unit_test(test_window_begins_with_its_own_period),
        cmocka_unit_test(test_group_closes_within_200_ms_of_a_rate_jump),
        cmocka_unit_test(test_windows_of_a_group_that_stayed_open_stand_for_themselves),
        cmocka_unit_test(test_end_of_the_target_is_no_error),
        cmocka_unit_test(test_no_window_begins_while_the_target_is_held),
        cmocka_unit_test(test_probes_of_a_held_target_are_kept),
        cmocka_unit_test(test_target_that_is_held_from_the_start_is_probed_later),
        cmocka_unit_test(test_governor_of_a_held_target_can_be_stopped),
        cmocka_unit_test(test_group_that_cannot_be_attached_is_refused_alone),
        cmocka_unit_test(test_open_window_is_cut_without_losing_hits),
    };
    int code;

    target_main(count, arguments);
    if (!calibrated(&calibration, &code))
        return code;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
