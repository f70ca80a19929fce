// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "symbol/frames_internal.h"

static const char VM[] = "/usr/lib/erlang/bin/beam.smp", VM_IN_CONTAINER[] = "/root/bin/beam.smp";
static const char LIBRARY[] = "/usr/lib/libc.so.6";

/* System calls of idle threads are recognized by the functions of the kernel and of libraries.
 * Those that wake threads are not among them. */
static void test_idle_system_calls_have_their_class(void **state)
{
    static const struct {
        const char *symbol;
        enum frame_class class;
    } cases[] = {
        {"ep_poll", CLASS_POLL},
        {"do_epoll_wait", CLASS_POLL},
        {"__x64_sys_epoll_pwait", CLASS_POLL},
        {"epoll_wait", CLASS_POLL},
        {"ep_poll_callback", CLASS_SYSTEM},
        {"ep_insert", CLASS_SYSTEM},
        {"futex_wait_queue", CLASS_SLEEP},
        {"timerfd_read", CLASS_SLEEP},
        {"do_sys_poll", CLASS_SLEEP},
        {"do_select", CLASS_SLEEP},
        {"futex_wake", CLASS_SYSTEM},
        {"memcpy", CLASS_SYSTEM},
        {"0xffffffff81000000", CLASS_SYSTEM},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (frame_class_of_system(cases[i].symbol) != cases[i].class)
            fail_msg("%s: %d", cases[i].symbol, (int)frame_class_of_system(cases[i].symbol));
}

/* The file distinguishes the VM from libraries, even if the VM has another path. Only
 * driver_select() is known by its name alone. */
static void test_file_distinguishes_the_vm_from_libraries(void **state)
{
    (void)state;
    assert_int_equal(frame_class_of_native("beam.smp+0x1234", VM, VM), CLASS_VM);
    assert_int_equal(frame_class_of_native("erts_alloc", VM_IN_CONTAINER, VM), CLASS_VM);
    assert_int_equal(frame_class_of_native("my_epoll_wait", VM, VM), CLASS_VM);
    assert_int_equal(frame_class_of_native("memcpy", LIBRARY, VM), CLASS_SYSTEM);
    assert_int_equal(frame_class_of_native("epoll_wait", LIBRARY, VM), CLASS_POLL);
    assert_int_equal(frame_class_of_native("read", "/usr/bin/old-beam.smp", VM), CLASS_SYSTEM);
    assert_int_equal(frame_class_of_native("[anonymous]+0x1", "[anonymous]", VM), CLASS_SYSTEM);
    assert_int_equal(frame_class_of_native("driver_select", VM, VM), CLASS_CHECK_IO);
}

/* Functions at which the VM changes its state have classes of their own, whatever their names. */
static void test_functions_that_change_the_state_have_their_class(void **state)
{
    static const enum frame_class classes[STATE_FUNCTIONS] = {
        CLASS_VM,   CLASS_SCHEDULE, CLASS_AUX,       CLASS_CHECK_IO,
        CLASS_PORT, CLASS_COLLECT,  CLASS_FULL_SWEEP};
    struct state_functions *functions = state_functions_new(NULL, NULL, NULL);

    (void)state;
    for (enum state_function i = FUNCTION_OTHER; i < STATE_FUNCTIONS; i++) {
        assert_int_equal(frame_class_of_start(functions, 0x1000 + i, CLASS_VM), CLASS_VM);
        if (i != FUNCTION_OTHER)
            state_functions_add(functions, i, 0x1000 + i);
        assert_int_equal(frame_class_of_start(functions, 0x1000 + i, CLASS_VM), classes[i]);
    }
    assert_int_equal(frame_class_of_start(functions, 0x2000, CLASS_SLEEP), CLASS_SLEEP);
    state_functions_free(functions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle_system_calls_have_their_class),
        cmocka_unit_test(test_file_distinguishes_the_vm_from_libraries),
        cmocka_unit_test(test_functions_that_change_the_state_have_their_class),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
