// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "fake_sample.h"
#include "fake_target.h"
#include "symbol/activity.h"

/* Bits of ErtsSchedulerSleepInfo.flags (erl_process.h 25:150). */
enum { POLL_SLEEPING = 1 << 1, TSE_SLEEPING = 1 << 2, WAITING = 1 << 3 };

struct thread {
    uint64_t process, scheduler, port;
    uint32_t sleep;
    const char *name;
    const char *frames[3]; /* root first */
};

static struct vm vm;

static int start(void **state)
{
    (void)state;
    memset(&vm, 0, sizeof(vm));
    vm.layout = fake_layout(27);
    return 0;
}

static void fill(struct fake_sample *sample, const struct thread *thread)
{
    uint8_t scheduler[WIRE_SCHEDULER_BYTES] = {0}, sleep_info[64] = {0};

    memset(sample, 0, sizeof(*sample));
    sample->head.process = thread->process;
    sample->head.scheduler = thread->scheduler;
    if (thread->name)
        memcpy(sample->head.thread_name, thread->name,
               strnlen(thread->name, sizeof(sample->head.thread_name)));
    memcpy(scheduler + vm.layout.sched_current_port, &thread->port, sizeof(thread->port));
    memcpy(sleep_info + 24, &thread->sleep, sizeof(thread->sleep));
    fake_segment(sample, SEGMENT_SCHEDULER, 0x1000, scheduler, sizeof(scheduler));
    fake_segment(sample, SEGMENT_SLEEP_INFO, 0x2000, sleep_info, sizeof(sleep_info));
}

static enum activity activity(const struct thread *thread)
{
    struct profile *profile = profile_new();
    struct fake_sample sample;
    struct snapshot snapshot;
    enum activity result;
    stack_id stack = 0;

    fill(&sample, thread);
    assert_true(fake_sample_open(&sample, &snapshot));
    for (int i = 0; i < 3 && thread->frames[i]; i++) {
        struct frame frame = {.kind = FRAME_NATIVE,
                              .symbol = profile_string_z(profile, thread->frames[i])};

        stack = profile_stack(profile, stack, profile_frame(profile, &frame));
    }
    result = activity_of(&vm, &snapshot, profile, stack);
    fake_sample_free(&sample);
    profile_free(profile);
    return result;
}

/* A thread that runs a process does just that, whatever else is true of it. */
static void test_process(void **state)
{
    (void)state;
    assert_int_equal(activity(&(struct thread){.process = 1, .scheduler = 1, .port = 1}),
                     ACTIVITY_PROCESS);
}

/* What a scheduler without a process does: by its port, its flags, then the functions it is in. */
static void test_schedulers(void **state)
{
    static const struct {
        struct thread thread;
        enum activity activity;
    } cases[] = {
        {{.scheduler = 1}, ACTIVITY_SCHEDULING},
        {{.scheduler = 1, .sleep = WAITING}, ACTIVITY_BUSY_WAIT},
        {{.scheduler = 1, .port = 5, .sleep = WAITING}, ACTIVITY_PORT},
        {{.scheduler = 1, .sleep = WAITING | POLL_SLEEPING}, ACTIVITY_CHECK_IO},
        {{.scheduler = 1, .sleep = WAITING | TSE_SLEEPING}, ACTIVITY_SLEEP},
        {{.scheduler = 1, .frames = {"erts_schedule", "epoll_wait", "do_syscall_64"}},
         ACTIVITY_CHECK_IO},
        {{.scheduler = 1, .frames = {"erts_schedule", "erts_check_io"}}, ACTIVITY_CHECK_IO},
        {{.scheduler = 1, .frames = {"erts_schedule", "syscall", "__x64_sys_futex"}},
         ACTIVITY_SLEEP},
        {{.scheduler = 1, .frames = {"erts_schedule", "handle_aux_work"}}, ACTIVITY_AUX_WORK},
        {{.scheduler = 1, .sleep = WAITING, .frames = {"erts_schedule", "erts_alcu_free"}},
         ACTIVITY_AUX_WORK},
        {{.scheduler = 1, .frames = {"erts_schedule", "__sched_yield"}}, ACTIVITY_SCHEDULING},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (activity(&cases[i].thread) != cases[i].activity)
            fail_msg("case %zu: %s", i, activity_name(activity(&cases[i].thread)));
}

/* Threads that are no schedulers are told by their names, of all releases and of any length. */
static void test_threads(void **state)
{
    static const struct {
        const char *name;
        enum activity activity;
    } cases[] = {
        {"async_1", ACTIVITY_ASYNC},          {"erts_async_12", ACTIVITY_ASYNC},
        {"1_aux", ACTIVITY_AUX_WORK},         {"erts_aux_1", ACTIVITY_AUX_WORK},
        {"0_poller", ACTIVITY_POLL},          {"erts_poll_0", ACTIVITY_POLL},
        {"erts_smsg_disp", ACTIVITY_OTHER},   {"", ACTIVITY_OTHER},
        {"sixteen_bytes_xx", ACTIVITY_OTHER}, /* no NUL */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(activity(&(struct thread){.name = cases[i].name}), cases[i].activity);
}

/* A scheduler of which nothing was copied is taken for one that schedules. */
static void test_nothing_copied(void **state)
{
    struct profile *profile = profile_new();
    struct fake_sample sample = {.head.scheduler = 1};
    struct snapshot snapshot;

    (void)state;
    assert_true(fake_sample_open(&sample, &snapshot));
    assert_int_equal(activity_of(&vm, &snapshot, profile, 0), ACTIVITY_SCHEDULING);
    fake_sample_free(&sample);
    profile_free(profile);
}

/* A field that a strange layout puts beyond what is copied is not read. */
static void test_field_out_of_reach(void **state)
{
    struct profile *profile = profile_new();
    struct fake_sample sample = {.head.scheduler = 1};
    struct snapshot snapshot;
    uint8_t bytes[WIRE_SCHEDULER_BYTES];

    (void)state;
    memset(bytes, 0xff, sizeof(bytes));
    fake_segment(&sample, SEGMENT_SCHEDULER, 0x1000, bytes, sizeof(bytes));
    assert_true(fake_sample_open(&sample, &snapshot));
    vm.layout.sched_current_port = WIRE_SCHEDULER_BYTES - 8;
    assert_int_equal(activity_of(&vm, &snapshot, profile, 0), ACTIVITY_PORT);
    vm.layout.sched_current_port = WIRE_SCHEDULER_BYTES - 7;
    assert_int_equal(activity_of(&vm, &snapshot, profile, 0), ACTIVITY_SCHEDULING);
    vm.layout.sched_current_port = -1;
    assert_int_equal(activity_of(&vm, &snapshot, profile, 0), ACTIVITY_SCHEDULING);
    fake_sample_free(&sample);
    profile_free(profile);
}

static void port_name(struct fake_target *target, uint64_t port, char *name, size_t size)
{
    struct fake_sample sample;
    struct snapshot snapshot;

    vm.memory = &target->memory;
    fill(&sample, &(struct thread){.scheduler = 1, .port = port});
    assert_true(fake_sample_open(&sample, &snapshot));
    activity_port_name(&vm, &snapshot, name, size);
    fake_sample_free(&sample);
}

/* A port's name is read through two pointers; where one leads nowhere there is none. */
static void test_port_name(void **state)
{
    struct fake_target *target = fake_target_new();
    uint64_t port = fake_room(target, 2048), text = fake_room(target, 16);
    char name[64] = "untouched";

    (void)state;
    fake_put(target, text, "tcp_inet", 9);
    port_name(target, port, name, sizeof(name));
    assert_string_equal(name, "");
    fake_put_u64(target, port + (uint64_t)vm.layout.port_name, text);
    port_name(target, port, name, sizeof(name));
    assert_string_equal(name, "tcp_inet");
    port_name(target, port, name, 4);
    assert_string_equal(name, "tcp");
    fake_put_u64(target, port + (uint64_t)vm.layout.port_name, 0x1234);
    port_name(target, port, name, sizeof(name));
    assert_string_equal(name, "");
    port_name(target, 0x1234, name, sizeof(name));
    assert_string_equal(name, "");
    port_name(target, 0, name, sizeof(name));
    assert_string_equal(name, "");
    free(target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_process, start),
        cmocka_unit_test_setup(test_schedulers, start),
        cmocka_unit_test_setup(test_threads, start),
        cmocka_unit_test_setup(test_nothing_copied, start),
        cmocka_unit_test_setup(test_field_out_of_reach, start),
        cmocka_unit_test_setup(test_port_name, start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
