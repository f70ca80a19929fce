// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "fake_sample.h"
#include "fake_target.h"
#include "symbol/threads_internal.h"

static struct vm vm;

static int start(void **state)
{
    (void)state;
    memset(&vm, 0, sizeof(vm));
    vm.layout = fake_layout(27);
    return 0;
}

static enum activity activity(uint64_t process, uint64_t scheduler, enum microstate state,
                              const char *name)
{
    struct fake_sample sample = {.head = {.process = process, .scheduler = scheduler}};
    struct snapshot snapshot;
    enum activity result;

    memcpy(sample.head.thread_name, name, strnlen(name, sizeof(sample.head.thread_name)));
    assert_true(fake_sample_open(&sample, &snapshot));
    result = activity_of(&snapshot, state);
    fake_sample_free(&sample);
    return result;
}

/* The activity of a thread with a process is that process, in every state. */
static void test_activity_of_a_thread_with_a_process_is_the_process(void **state)
{
    (void)state;
    assert_int_equal(activity(1, 1, MICROSTATE_PORT, "erts_sched_1"), ACTIVITY_PROCESS);
}

static void test_activity_of_a_scheduler_without_process_is_its_state(void **state)
{
    static const struct {
        enum microstate state;
        enum activity activity;
    } cases[] = {
        {MICROSTATE_OTHER, ACTIVITY_SCHEDULING},    {MICROSTATE_NONE, ACTIVITY_SCHEDULING},
        {MICROSTATE_BUSY_WAIT, ACTIVITY_BUSY_WAIT}, {MICROSTATE_PORT, ACTIVITY_PORT},
        {MICROSTATE_CHECK_IO, ACTIVITY_CHECK_IO},   {MICROSTATE_SLEEP, ACTIVITY_SLEEP},
        {MICROSTATE_AUX, ACTIVITY_AUX_WORK},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(activity(0, 1, cases[i].state, "erts_sched_1"), cases[i].activity);
}

/* Threads that are not schedulers are identified by their names, in all releases and of any
 * length. */
static void test_other_threads_are_identified_by_their_names(void **state)
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
        assert_int_equal(activity(0, 0, MICROSTATE_OTHER, cases[i].name), cases[i].activity);
}

static void port_name(struct fake_target *target, uint64_t port, char *name, size_t size)
{
    struct fake_sample sample = {.head.scheduler = 1};
    uint8_t scheduler[WIRE_SCHEDULER_BYTES] = {0};
    struct snapshot snapshot;

    vm.memory = &target->memory;
    memcpy(scheduler + vm.layout.sched_current_port, &port, sizeof(port));
    fake_region(&sample, REGION_SCHEDULER, 0x1000, scheduler, sizeof(scheduler));
    assert_true(fake_sample_open(&sample, &snapshot));
    activity_name_port(&vm, &snapshot, name, size);
    fake_sample_free(&sample);
}

/* A port's name is read through two pointers; if one is invalid, the port has no name. */
static void test_port_name_is_empty_if_a_pointer_to_it_is_invalid(void **state)
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
        cmocka_unit_test_setup(test_activity_of_a_thread_with_a_process_is_the_process, start),
        cmocka_unit_test_setup(test_activity_of_a_scheduler_without_process_is_its_state, start),
        cmocka_unit_test_setup(test_other_threads_are_identified_by_their_names, start),
        cmocka_unit_test_setup(test_port_name_is_empty_if_a_pointer_to_it_is_invalid, start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
