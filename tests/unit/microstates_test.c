// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output/summary/summary_internal.h"
#include "profile/events.h"
#include "profile/microstates.h"

#define MS    UINT64_C(1000000)
#define START (100 * MS)
#define END   (1100 * MS)

static struct profile *profile;
static struct microstates *states;
static struct thread_times times;
static target_id target;

static int start(void **state)
{
    (void)state;
    profile = profile_new();
    event_define(profile, EVENT_CPU);
    event_define(profile, "gc");
    target = profile_target(profile, &(struct target_entry){.pid = 100});
    states = microstates_new(profile);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    microstates_free(states);
    thread_times_free(&times);
    profile_free(profile);
    return 0;
}

static thread_id thread(uint32_t tid, const char *name, uint16_t kind, uint16_t number)
{
    return profile_thread(profile, &(struct thread_entry){.target = target,
                                                          .tid = tid,
                                                          .name = profile_string_z(profile, name),
                                                          .scheduler_kind = kind,
                                                          .scheduler_number = number});
}

static void sample(thread_id id, enum microstate state, uint64_t ms)
{
    microstates_add(
        states, &(struct sample){
                    .event = 1, .values = {ms * MS}, .thread = id, .microstate = (uint8_t)state});
}

static void time_of(thread_id id, uint64_t span, uint64_t cpu, uint64_t wait)
{
    thread_times_add(&times, &(struct thread_time){.thread = id,
                                                   .from = START,
                                                   .to = START + span * MS,
                                                   .cpu_ns = cpu * MS,
                                                   .wait_ns = wait * MS,
                                                   .sampled_ns = cpu * MS / 2});
}

static struct microstate_row *rows_of(size_t expected)
{
    size_t count;
    struct microstate_row *rows = microstates_rows(states, &times, START, END, &count);

    assert_int_equal(count, expected);
    return rows;
}

/* The values of the clock are summed by thread and state; those of threads two and three are
 * scaled. Other time on a CPU is unknown. The rest is sleep, except for the time without a CPU,
 * which is limited to the rest. */
static void test_times_are_summed_by_thread_and_microstate(void **state)
{
    thread_id one = thread(1, "erts_sched_1", SCHEDULER_NORMAL, 1);
    thread_id two = thread(2, "erts_sched_2", SCHEDULER_NORMAL, 2);
    thread_id three = thread(3, "erts_sched_3", SCHEDULER_NORMAL, 3);
    struct microstate_row *rows, sum = {0};

    (void)state;
    sample(one, MICROSTATE_BIF, 10);
    sample(one, MICROSTATE_BIF, 20);
    sample(one, MICROSTATE_SLEEP, 5);
    sample(two, MICROSTATE_EMULATOR, 900);
    time_of(two, 500, 480, 300);
    time_of(three, 500, 10, 2);
    sample(three, MICROSTATE_AUX, 7);
    rows = rows_of(3);
    assert_int_equal(rows[0].samples, 3);
    assert_int_equal(rows[0].ns[MICROSTATE_BIF], 30 * MS);
    assert_int_equal(rows[0].ns[MICROSTATE_SLEEP], (1000 - 30) * MS);
    assert_int_equal(rows[0].sampled_ns, 35 * MS);
    assert_int_equal(rows[0].span_ns, 1000 * MS);
    assert_false(rows[0].counted);
    assert_true(rows[1].counted);
    assert_int_equal(rows[1].ns[MICROSTATE_EMULATOR], 240 * MS);
    assert_int_equal(rows[1].ns[MICROSTATE_SLEEP], 0);
    assert_int_equal(rows[1].wait_ns, 20 * MS);
    assert_int_equal(rows[1].cpu_ns, 480 * MS);
    assert_int_equal(rows[1].ns[MICROSTATE_NONE], 240 * MS);
    assert_int_equal(rows[1].sampled_ns, 240 * MS);
    assert_int_equal(rows[2].ns[MICROSTATE_AUX], 5 * MS);
    assert_int_equal(rows[2].ns[MICROSTATE_NONE], 5 * MS);
    assert_int_equal(rows[2].ns[MICROSTATE_SLEEP], 488 * MS);
    assert_int_equal(rows[2].wait_ns, 2 * MS);
    microstate_row_add(&sum, &rows[0]);
    microstate_row_add(&sum, &rows[2]);
    assert_int_equal(sum.span_ns, 1500 * MS);
    assert_int_equal(sum.ns[MICROSTATE_SLEEP], (970 + 488) * MS);
    assert_int_equal(sum.wait_ns, 2 * MS);
    assert_int_equal(sum.sampled_ns, 40 * MS);
    free(rows);
}

/* Rows are ordered, threads that the accounting does not know are skipped, and a renamed thread is
 * one thread. */
static void test_threads_are_ordered_and_renamed_ones_are_one(void **state)
{
    static const struct {
        enum thread_type type;
        uint32_t number;
    } expected[] = {{THREAD_SCHEDULER, 1}, {THREAD_SCHEDULER, 2}, {THREAD_DIRTY_CPU, 1},
                    {THREAD_DIRTY_IO, 10}, {THREAD_AUX, 1},       {THREAD_POLL, 0},
                    {THREAD_ASYNC, 0}};
    struct microstate_row *rows;

    (void)state;
    sample(thread(7, "erts_async_1", 0, 0), MICROSTATE_PORT, 1);
    sample(thread(6, "0_poller", 0, 0), MICROSTATE_CHECK_IO, 1);
    sample(thread(5, "erts_aux_1", 0, 0), MICROSTATE_AUX, 1);
    sample(thread(8, "erts_ssig_disp", 0, 0), MICROSTATE_OTHER, 1);
    sample(thread(4, "10_dirty_io_sch", SCHEDULER_DIRTY_IO, 10), MICROSTATE_NIF, 1);
    sample(thread(3, "renamed", SCHEDULER_DIRTY_CPU, 1), MICROSTATE_NIF, 1);
    sample(thread(2, "before", 0, 0), MICROSTATE_OTHER, 1);
    sample(thread(2, "erts_sched_2", SCHEDULER_NORMAL, 2), MICROSTATE_OTHER, 1);
    sample(thread(2, "after", 0, 0), MICROSTATE_OTHER, 1);
    time_of(thread(1, "erts_sched_1", SCHEDULER_NORMAL, 1), 10, 1, 1);
    rows = rows_of(7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(rows[i].type, expected[i].type);
        assert_int_equal(rows[i].number, expected[i].number);
        assert_int_equal(rows[i].tid, i + 1);
    }
    assert_int_equal(rows[1].samples, 3);
    free(rows);
}

/* Only samples of CPU time count; without them there is no table. */
static void test_only_samples_of_cpu_time_count(void **state)
{
    thread_id id = thread(1, "erts_sched_1", SCHEDULER_NORMAL, 1);
    struct microstate_row *rows;

    (void)state;
    time_of(id, 10, 1, 1);
    microstates_add(states, &(struct sample){.event = 2, .values = {5}, .thread = id});
    microstates_add(states, &(struct sample){.event = 1, .values = {5}});
    free(rows_of(0));
    sample(id, MICROSTATE_AUX, 1);
    rows = rows_of(1);
    assert_int_equal(rows[0].samples, 1);
    free(rows);
}

/* All forms of names are known, also cut to the kernel's 15 bytes. */
static void test_name_of_a_thread_gives_its_type_and_number(void **state)
{
    static const struct {
        const char *name;
        enum thread_type type;
        uint32_t number;
    } cases[] = {
        {"1_scheduler", THREAD_SCHEDULER, 1},
        {"1024_scheduler", THREAD_SCHEDULER, 1024},
        {"1_dirty_cpu_sch", THREAD_DIRTY_CPU, 1},
        {"1024_dirty_cpu_", THREAD_DIRTY_CPU, 1024},
        {"12_dirty_io_sch", THREAD_DIRTY_IO, 12},
        {"1_aux", THREAD_AUX, 1},
        {"0_poller", THREAD_POLL, 0},
        {"async_64", THREAD_ASYNC, 63},
        {"erts_sched_3", THREAD_SCHEDULER, 3},
        {"erts_dcpus_3", THREAD_DIRTY_CPU, 3},
        {"erts_dios_3", THREAD_DIRTY_IO, 3},
        {"erts_aux_1", THREAD_AUX, 1},
        {"erts_poll_0", THREAD_POLL, 0},
        {"erts_async_1", THREAD_ASYNC, 0},
        {"erts_sched_", THREAD_OTHER, 0},
        {"_scheduler", THREAD_OTHER, 0},
        {"1_sched", THREAD_OTHER, 0},
        {"beam.smp", THREAD_OTHER, 0},
        {"", THREAD_OTHER, 0},
    };
    uint32_t number;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        if (thread_type_of(cases[i].name, &number) != cases[i].type || number != cases[i].number)
            fail_msg("%s: %s %u", cases[i].name,
                     thread_type_name(thread_type_of(cases[i].name, &number)), number);
    }
}

static void test_microstates_have_different_names(void **state)
{
    (void)state;
    for (int i = 0; i < MICROSTATE_COUNT; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(microstate_name(i), microstate_name(k));
}

static char *table_of(bool is_full)
{
    char *text;
    size_t size, count;
    FILE *file = open_memstream(&text, &size);
    struct microstate_row *rows = microstates_rows(states, &times, START, END, &count);

    microstate_table_write(file, profile, rows, count, is_full);
    fclose(file);
    free(rows);
    return text;
}

/* All schedulers have one line, and so has each of the busiest; the others share one. Other threads
 * are shown only if they ran; empty columns are hidden. */
static void test_table_shows_the_busiest_schedulers_one_by_one(void **state)
{
    char name[32], *text;

    (void)state;
    for (uint16_t i = 1; i <= 10; i++) {
        snprintf(name, sizeof(name), "erts_sched_%d", i);
        sample(thread(i, name, SCHEDULER_NORMAL, i), MICROSTATE_EMULATOR, i * 10);
    }
    sample(thread(20, "erts_dcpus_1", SCHEDULER_DIRTY_CPU, 1), MICROSTATE_NIF, 400);
    time_of(thread(21, "erts_dcpus_2", SCHEDULER_DIRTY_CPU, 2), 1000, 0, 100);
    time_of(thread(22, "erts_dios_1", SCHEDULER_DIRTY_IO, 1), 1000, 0, 100);
    text = table_of(true);
    assert_string_equal(text, "\n"
                              "what threads did, in % of the time\n"
                              "                 emulator    nif  sleep  no cpu   busy  samples\n"
                              "  10 schedulers       5.5    0.0   94.5     0.0    5.5       10\n"
                              "  scheduler 3         3.0    0.0   97.0     0.0    3.0        1\n"
                              "  scheduler 4         4.0    0.0   96.0     0.0    4.0        1\n"
                              "  scheduler 5         5.0    0.0   95.0     0.0    5.0        1\n"
                              "  scheduler 6         6.0    0.0   94.0     0.0    6.0        1\n"
                              "  scheduler 7         7.0    0.0   93.0     0.0    7.0        1\n"
                              "  scheduler 8         8.0    0.0   92.0     0.0    8.0        1\n"
                              "  scheduler 9         9.0    0.0   91.0     0.0    9.0        1\n"
                              "  scheduler 10       10.0    0.0   90.0     0.0   10.0        1\n"
                              "  2 others            1.5    0.0   98.5     0.0    1.5        2\n"
                              "  2 dirty cpu         0.0   20.0   75.0     5.0   20.0        1\n"
                              "  no cpu: ready to run, while other threads of the machine had the "
                              "CPUs\n"
                              "  busy: on a CPU, without busy wait and sleep\n");
    free(text);
    text = table_of(false);
    assert_non_null(strstr(text, "\n  10 schedulers       5.5 "));
    assert_null(strstr(text, "scheduler 10"));
    free(text);
}

/* Several VMs are distinguished by their pid; without rows there is no text. */
static void test_table_of_several_vms_has_their_pids(void **state)
{
    char *text = table_of(true);

    (void)state;
    assert_string_equal(text, "");
    free(text);
    sample(thread(1, "erts_sched_1", SCHEDULER_NORMAL, 1), MICROSTATE_EMULATOR, 1000);
    target = profile_target(profile, &(struct target_entry){.pid = 200});
    sample(thread(1, "erts_sched_1", SCHEDULER_NORMAL, 1), MICROSTATE_AUX, 1000);
    text = table_of(true);
    assert_string_equal(text, "\n"
                              "what threads did, in % of the time\n"
                              "                    emulator    aux   busy  samples\n"
                              "  100: scheduler 1     100.0    0.0  100.0        1\n"
                              "  200: scheduler 1       0.0  100.0  100.0        1\n"
                              "  busy: on a CPU, without busy wait and sleep\n");
    free(text);
}

/* The work grows with the number of threads, not with its square: a small file can have many. */
static void test_many_threads_take_little_time(void **state)
{
    enum { MANY = 40000 };
    clock_t began = clock();
    struct microstate_row *rows;
    size_t count, size;
    char *text = NULL;
    FILE *file = open_memstream(&text, &size);

    (void)state;
    for (uint32_t i = 1; i <= MANY; i++) {
        thread_id id = thread(i, "erts_sched_1", SCHEDULER_NORMAL, (uint16_t)i);

        sample(id, MICROSTATE_EMULATOR, i);
        time_of(id, 1000, i % 100, 1);
    }
    rows = microstates_rows(states, &times, START, END, &count);
    assert_int_equal(count, MANY);
    assert_true(rows[0].counted);
    microstate_table_write(file, profile, rows, count, true);
    fclose(file);
    assert_non_null(strstr(text, "39992 others"));
    assert_true(clock() - began < 2 * CLOCKS_PER_SEC);
    free(text);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_times_are_summed_by_thread_and_microstate, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_threads_are_ordered_and_renamed_ones_are_one, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_only_samples_of_cpu_time_count, start, stop),
        cmocka_unit_test(test_name_of_a_thread_gives_its_type_and_number),
        cmocka_unit_test(test_microstates_have_different_names),
        cmocka_unit_test_setup_teardown(test_table_shows_the_busiest_schedulers_one_by_one, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_table_of_several_vms_has_their_pids, start, stop),
        cmocka_unit_test_setup_teardown(test_many_threads_take_little_time, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
