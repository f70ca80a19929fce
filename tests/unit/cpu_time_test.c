// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "fake_sample.h"
#include "os/process.h"
#include "profile/events.h"
#include "session/cpu_time.h"
#include "util/clock.h"

/* The VM is the test itself, so that the test can cause the CPU time that the kernel accounts. */

static const uint64_t MS = 1000000;

struct bench {
    struct session_options options;
    struct segment *segment;
    struct cpu_time *cpu_time;
    struct vm_cpu_time *own;
    uint64_t started; /* CPU time of the test when accounting began, or a little before */
};

static void work(uint64_t ns)
{
    uint64_t end = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + ns;

    while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
        ;
}

static void setup(struct bench *bench, const char *clock, uint64_t period)
{
    struct recording_header header = {.frequency = 100,
                                      .event = clock,
                                      .hostname = "",
                                      .kernel = "",
                                      .command = "",
                                      .version = "",
                                      .trigger = ""};
    struct error error;

    memset(bench, 0, sizeof(*bench));
    bench->options.cpu = true;
    bench->segment = segment_new(&bench->options, NULL);
    assert_int_equal(
        segment_open(bench->segment, recording_writer_file(NULL, "/tmp", &error), &header, &error),
        0);
    bench->started = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    bench->cpu_time = cpu_time_new(sample_clock_find(clock, &error), period, 100);
    bench->own = vm_cpu_time_new(bench->cpu_time, getpid(), 1);
}

static void teardown(struct bench *bench)
{
    vm_cpu_time_free(bench->own);
    cpu_time_free(bench->cpu_time);
    segment_free(bench->segment);
}

static void hold(struct bench *bench, uint64_t base)
{
    struct sample sample = {.time = clock_ns(CLOCK_MONOTONIC), .event = bench->segment->cpu};

    sample.values[CPU_TIME] = base;
    vm_cpu_time_hold(bench->own, &sample);
}

/* End the recording; return the values of its samples. */
static size_t values(struct bench *bench, uint64_t list[], size_t room)
{
    struct profile *profile = profile_new();
    struct recording *recording;
    struct sample sample;
    struct error error;
    size_t count = 0;
    bool cut;
    int fd;

    assert_int_equal(segment_finish(bench->segment, 0, &fd, &error), 0);
    recording = recording_open(fd, "test", &error);
    assert_non_null(recording);
    while (recording_next(recording, profile, &sample, &cut, &error) == 1) {
        assert_true(count < room);
        list[count++] = sample.values[CPU_TIME];
    }
    recording_close(recording);
    profile_free(profile);
    return count;
}

/* End the recording, which must have `count` samples, at most 8; return the sum of their values. */
static uint64_t sum_of_values(struct bench *bench, uint64_t list[8], size_t count)
{
    uint64_t sum = 0;

    assert_int_equal(values(bench, list, 8), count);
    for (size_t i = 0; i < count; i++)
        sum += list[i];
    return sum;
}

/* All samples together get exactly the accounted time, each in proportion to its base, even if the
 * clock saw only half of the time. Time without a sample goes to the next sample. */
static void test_samples_add_up_to_the_accounted_cpu_time(void **state)
{
    struct recording_totals totals = {0};
    uint64_t list[4], sum = 0, ended;
    struct bench bench;
    struct error error;

    (void)state;
    setup(&bench, "cpu-clock", 10 * MS);
    work(20 * MS);
    assert_int_equal(vm_cpu_time_settle(bench.own, true, bench.segment, &error), 0);
    work(20 * MS);
    hold(&bench, 10 * MS);
    hold(&bench, 5 * MS);
    hold(&bench, 5 * MS);
    assert_int_equal(vm_cpu_time_settle(bench.own, true, bench.segment, &error), 0);
    ended = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    cpu_time_totals(bench.cpu_time, &totals);
    assert_int_equal(values(&bench, list, 4), 3);
    for (int i = 0; i < 3; i++)
        sum += list[i];
    assert_int_equal(sum, totals.cpu_accounted_ns);
    assert_true(sum >= 40 * MS && sum <= ended - bench.started);
    assert_true(list[0] / MS == sum / 2 / MS || list[0] / MS + 1 == sum / 2 / MS);
    assert_int_equal(totals.cpu_sampled_ns, 20 * MS);
    assert_int_equal(totals.cpu_samples, 3);
    teardown(&bench);
}

/* A window that has just begun is not scaled yet. The newest sample waits for the next window,
 * until newer samples of other events are appended. */
static void test_samples_of_a_new_window_wait_to_be_scaled(void **state)
{
    uint64_t list[2];
    struct bench bench;
    struct error error;

    (void)state;
    setup(&bench, "cpu-clock", 10 * MS);
    hold(&bench, 10 * MS);
    assert_int_equal(vm_cpu_time_settle(bench.own, false, bench.segment, &error), 0);
    assert_int_equal(values(&bench, list, 0), 0);
    teardown(&bench);

    setup(&bench, "cpu-clock", 10 * MS);
    hold(&bench, 10 * MS);
    hold(&bench, 10 * MS);
    usleep(210000);
    hold(&bench, 10 * MS);
    assert_int_equal(vm_cpu_time_settle(bench.own, false, bench.segment, &error), 0);
    assert_int_equal(values(&bench, list, 2), 2);
    teardown(&bench);

    setup(&bench, "cpu-clock", 10 * MS);
    hold(&bench, 10 * MS);
    usleep(310000);
    assert_int_equal(vm_cpu_time_settle(bench.own, false, bench.segment, &error), 0);
    assert_int_equal(bench.segment->newest, 0);
    bench.segment->newest = clock_ns(CLOCK_MONOTONIC); /* a sample of another event */
    assert_int_equal(vm_cpu_time_settle(bench.own, false, bench.segment, &error), 0);
    assert_int_equal(values(&bench, list, 2), 1);
    teardown(&bench);
}

/* If a window has far too few ticks by chance, its samples do not count much more: those of later
 * windows get the rest. */
static void test_later_windows_compensate_for_too_few_ticks(void **state)
{
    struct recording_totals totals = {0};
    uint64_t list[8], sum;
    struct bench bench;
    struct error error;

    (void)state;
    setup(&bench, "cpu-clock", 10 * MS);
    work(210 * MS);
    hold(&bench, 10 * MS);
    hold(&bench, 10 * MS);
    assert_int_equal(vm_cpu_time_settle(bench.own, false, bench.segment, &error), 0);
    for (int i = 0; i < 4; i++)
        hold(&bench, 10 * MS);
    assert_int_equal(vm_cpu_time_settle(bench.own, true, bench.segment, &error), 0);
    cpu_time_totals(bench.cpu_time, &totals);
    sum = sum_of_values(&bench, list, 6);
    assert_true(list[0] > 10 * MS && list[0] < 30 * MS);
    assert_int_equal(sum, totals.cpu_accounted_ns);
    teardown(&bench);
}

/* If a window has far too many ticks by chance, its samples get hardly more than the kernel has
 * accounted: the recording may end before others can get less. */
static void test_samples_of_too_many_ticks_stay_within_the_account(void **state)
{
    struct recording_totals totals = {0};
    uint64_t list[8], sum;
    struct bench bench;
    struct error error;

    (void)state;
    setup(&bench, "cpu-clock", 10 * MS);
    for (int i = 0; i < 5; i++)
        hold(&bench, 10 * MS);
    usleep(210000); /* the clock counted 40 ms more, with almost no CPU time */
    assert_int_equal(vm_cpu_time_settle(bench.own, false, bench.segment, &error), 0);
    assert_int_equal(vm_cpu_time_settle(bench.own, true, bench.segment, &error), 0);
    cpu_time_totals(bench.cpu_time, &totals);
    sum = sum_of_values(&bench, list, 5);
    assert_in_range(sum, totals.cpu_accounted_ns, totals.cpu_accounted_ns + MS / 2);
    teardown(&bench);
}

static void test_cpu_time_after_the_end_counts_for_no_sample(void **state)
{
    uint64_t list[1], stopped;
    struct bench bench;
    struct error error;

    (void)state;
    setup(&bench, "cpu-clock", 10 * MS);
    hold(&bench, 10 * MS);
    vm_cpu_time_stop(bench.own);
    stopped = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    work(30 * MS);
    assert_int_equal(vm_cpu_time_settle(bench.own, true, bench.segment, &error), 0);
    assert_int_equal(values(&bench, list, 1), 1);
    assert_true(list[0] <= stopped - bench.started);
    teardown(&bench);
}

/* CPU time in a pause counts for none, and CPU time after it counts again. */
static void test_cpu_time_of_a_pause_counts_for_no_sample(void **state)
{
    uint64_t list[8], before, paused, sum;
    struct bench bench;
    struct error error;

    (void)state;
    setup(&bench, "cpu-clock", 10 * MS);
    hold(&bench, 10 * MS);
    vm_cpu_time_stop(bench.own);
    assert_int_equal(vm_cpu_time_settle(bench.own, true, bench.segment, &error), 0);
    before = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - bench.started;
    work(100 * MS);
    paused = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    vm_cpu_time_resume(bench.own);
    work(20 * MS);
    hold(&bench, 10 * MS);
    assert_int_equal(vm_cpu_time_settle(bench.own, true, bench.segment, &error), 0);
    sum = sum_of_values(&bench, list, 2);
    assert_in_range(sum, 20 * MS, before + clock_ns(CLOCK_PROCESS_CPUTIME_ID) - paused);
    teardown(&bench);
}

/* The samples of a VM that has ended keep the values of the clock. */
static void test_samples_without_an_account_keep_the_clocks_values(void **state)
{
    uint64_t list[2];
    struct bench bench;
    struct error error;

    (void)state;
    setup(&bench, "cpu-clock", 10 * MS);
    vm_cpu_time_stop(bench.own);
    assert_int_equal(vm_cpu_time_settle(bench.own, true, bench.segment, &error), 0);
    teardown(&bench);
    setup(&bench, "cpu-clock", 10 * MS);
    vm_cpu_time_free(bench.own);
    bench.own = vm_cpu_time_new(bench.cpu_time, 0x7ffffffe, 1); /* no pid is above 4 million */
    hold(&bench, 10 * MS);
    hold(&bench, 30 * MS);
    assert_int_equal(vm_cpu_time_settle(bench.own, true, bench.segment, &error), 0);
    assert_int_equal(values(&bench, list, 2), 2);
    assert_int_equal(list[0], 10 * MS);
    assert_int_equal(list[1], 30 * MS);
    teardown(&bench);
}

static uint64_t base_of(struct bench *bench, uint64_t counted)
{
    struct fake_sample sample = {0};
    struct snapshot snapshot;
    uint64_t base;

    if (counted)
        fake_region(&sample, REGION_TICK, 0, &counted, sizeof(counted));
    assert_true(fake_sample_open(&sample, &snapshot));
    base = vm_cpu_time_base(bench->own, &snapshot);
    fake_sample_free(&sample);
    return base;
}

/* If a part of the ticks gives a sample, each sample stands for the others too. */
static void test_sample_stands_for_ticks_without_one(void **state)
{
    struct bench bench;

    (void)state;
    setup(&bench, "cpu-clock", 10 * MS);
    vm_cpu_time_free(bench.own);
    bench.own = vm_cpu_time_new(bench.cpu_time, getpid(), 0.25);
    assert_int_equal(base_of(&bench, 0), 40 * MS);
    assert_int_equal(base_of(&bench, 12 * MS), 48 * MS);
    teardown(&bench);
}

/* A late tick counts for all of the time since the last one; a tick without a count, for one
 * period. Cycles become time at the rate that the period was computed for, and later at the
 * observed rate. */
static void test_late_ticks_count_in_full(void **state)
{
    struct bench bench;
    struct error error;

    (void)state;
    setup(&bench, "cpu-clock", 10 * MS);
    assert_int_equal(base_of(&bench, 0), 10 * MS);
    assert_int_equal(base_of(&bench, 27 * MS), 27 * MS);
    teardown(&bench);
    setup(&bench, "cycles", 30000000);
    assert_int_equal(base_of(&bench, 0), 10 * MS);
    assert_in_range(base_of(&bench, 15000000), 4 * MS, 5 * MS);
    teardown(&bench);

    /* The CPU is slower than at first: a cycle takes longer. */
    setup(&bench, "cycles", 30000000);
    for (int i = 0; i < 100; i++)
        base_of(&bench, 15000000);
    work(1000 * MS);
    assert_int_equal(vm_cpu_time_settle(bench.own, true, bench.segment, &error), 0);
    assert_in_range(base_of(&bench, 15000000), 8 * MS, 10 * MS);
    teardown(&bench);
}

/* The sum of the clock is known for each thread, even if the thread has another entry, and restarts
 * with a segment. */
static void test_sampled_time_is_summed_by_thread(void **state)
{
    struct thread_times times = {0};
    struct bench bench;
    struct profile *profile;
    struct sample sample = {.values = {7 * MS}};
    thread_id one, renamed;

    (void)state;
    setup(&bench, "cpu-clock", 10 * MS);
    profile = bench.segment->profile;
    one = profile_thread(profile, &(struct thread_entry){.tid = 5});
    renamed = profile_thread(
        profile, &(struct thread_entry){.tid = 5, .name = profile_string_z(profile, "new")});
    sample.event = bench.segment->cpu;
    sample.thread = one;
    vm_cpu_time_hold(bench.own, &sample);
    sample.thread = renamed;
    vm_cpu_time_hold(bench.own, &sample);
    thread_times_add(&times, &(struct thread_time){.thread = renamed});
    cpu_time_threads(bench.cpu_time, profile, &times);
    assert_int_equal(times.list[0].sampled_ns, 14 * MS);
    cpu_time_begin(bench.cpu_time);
    times.list[0].sampled_ns = 0;
    cpu_time_threads(bench.cpu_time, profile, &times);
    assert_int_equal(times.list[0].sampled_ns, 0);
    thread_times_free(&times);
    teardown(&bench);
}

/* With the most threads that a recording has, each gets its own time, soon: searching the list for
 * each thread would take seconds. The same number in another VM is another thread. */
static void test_times_of_many_threads_are_found_soon(void **state)
{
    struct thread_times times = {0};
    struct bench bench;
    struct profile *profile;
    uint64_t began;

    (void)state;
    setup(&bench, "cpu-clock", 10 * MS);
    profile = bench.segment->profile;
    for (uint32_t i = 0; i < THREAD_TIMES_MAX; i++) {
        struct sample sample = {.values = {i + 1}, .event = bench.segment->cpu};

        sample.thread =
            profile_thread(profile, &(struct thread_entry){.tid = 1 + i / 2, .target = i % 2});
        vm_cpu_time_hold(bench.own, &sample);
        thread_times_add(&times, &(struct thread_time){.thread = sample.thread});
    }
    began = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    cpu_time_threads(bench.cpu_time, profile, &times);
    assert_true(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began < 50 * MS);
    for (uint32_t i = 0; i < THREAD_TIMES_MAX; i++)
        assert_int_equal(times.list[i].sampled_ns, i + 1);
    thread_times_free(&times);
    teardown(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_add_up_to_the_accounted_cpu_time),
        cmocka_unit_test(test_samples_of_a_new_window_wait_to_be_scaled),
        cmocka_unit_test(test_later_windows_compensate_for_too_few_ticks),
        cmocka_unit_test(test_samples_of_too_many_ticks_stay_within_the_account),
        cmocka_unit_test(test_cpu_time_after_the_end_counts_for_no_sample),
        cmocka_unit_test(test_cpu_time_of_a_pause_counts_for_no_sample),
        cmocka_unit_test(test_samples_without_an_account_keep_the_clocks_values),
        cmocka_unit_test(test_sample_stands_for_ticks_without_one),
        cmocka_unit_test(test_late_ticks_count_in_full),
        cmocka_unit_test(test_sampled_time_is_summed_by_thread),
        cmocka_unit_test(test_times_of_many_threads_are_found_soon),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
