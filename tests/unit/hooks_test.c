// SPDX-License-Identifier: Apache-2.0
/* Each way to find a hook, in a VM that exports only its NIF interface. */
#include "hooks_vm.h"

static void test_each_hook_is_found_without_its_symbol(void **state)
{
    static const struct {
        const uint8_t *function;
        enum hook_method way;
    } expected[HOOK_COUNT] = {
        [HOOK_SCHEDULE_OUT] = {vm_schedule, HOOK_BY_CALLER},
        [HOOK_SCHEDULE_IN] = {vm_copy_in, HOOK_BY_CALLER},
        [HOOK_WAKE] = {vm_schedule_process, HOOK_BY_CODE},
        [HOOK_WAKE_SIGNAL] = {vm_system_schedule, HOOK_BY_CODE},
        [HOOK_ENQUEUE] = {vm_add_to_queue, HOOK_BY_CODE},
        [HOOK_GC] = {vm_garbage_collect, HOOK_BY_CALLER},
        [HOOK_GC_HIBERNATE] = {vm_collect_hibernate, HOOK_BY_CODE},
        [HOOK_FRAGMENT] = {vm_heap_alloc, HOOK_BY_CODE},
        [HOOK_SEND] = {vm_queue_proc_message, HOOK_BY_CODE},
        [HOOK_SEND_MANY] = {vm_queue_proc_messages, HOOK_BY_CODE},
        [HOOK_QUEUE] = {vm_offer, HOOK_BY_CODE},
        [HOOK_RECEIVE] = {vm_remove_message, HOOK_BY_CALLER},
        [HOOK_COPY] = {vm_copy_struct, HOOK_BY_CALLER},
        [HOOK_SPAWN] = {vm_create_process, HOOK_BY_CALLER},
        [HOOK_EXIT] = {vm_do_exit, HOOK_BY_CALLER},
        [HOOK_EXIT_CONTINUE] = {vm_continue_exit, HOOK_BY_CALLER},
        [HOOK_DIRTY_NIF] = {vm_dirty_nif, HOOK_BY_CODE},
        [HOOK_DIRTY_BIF] = {vm_dirty_bif, HOOK_BY_CODE},
        [HOOK_AUX_WORK] = {vm_aux_work, HOOK_BY_CALLER},
        [HOOK_CHECK_IO] = {vm_check_io, HOOK_BY_CALLER},
        [HOOK_SCHED_WAIT] = {vm_scheduler_wait, HOOK_BY_CALLER},
        [HOOK_FULL_SWEEP] = {vm_full_sweep, HOOK_BY_CALLER},
    };

    (void)state;
    for (int hook = 0; hook < HOOK_COUNT; hook++) {
        struct hook_point point = {0}, named = {0};
        struct error error = {.text = ""};
        int result = hooks_find(bench.hooks, (enum hook)hook, &point, &error);

        assert_string_equal(error.text, "");
        assert_int_equal(result, 0);
        assert_int_equal(point.address, at(expected[hook].function));
        assert_int_equal(point.way, expected[hook].way);
        assert_int_equal(hooks_symbol(bench.hooks, hook_function((enum hook)hook), &named, &error),
                         0);
        assert_int_equal(named.address, point.address);
    }
}

static void assert_refused(enum hook hook, const char *text)
{
    struct hook_point point;
    struct error error;

    for (int again = 0; again < 2; again++) {
        error.text[0] = 0;
        assert_int_equal(hooks_find(bench.hooks, hook, &point, &error), -1);
        assert_int_equal(error.code, ERROR_UNSUPPORTED);
        assert_non_null(strstr(error.text, text));
        assert_non_null(strstr(error.text, hook_function(hook)));
    }
}

static int start_without_code(void **state)
{
    (void)state;
    begin();
    LOAD("global", RANGE("global::other", jit_continue_exit));
    memset(bifs, 0, sizeof(bifs));
    open_hooks();
    return 0;
}

/* A hook is refused if the code that identifies it is missing; the others are not affected. */
static void test_hook_without_its_identifying_code_is_refused_alone(void **state)
{
    static const enum hook refused[] = {
        HOOK_SCHEDULE_OUT,  HOOK_SCHEDULE_IN, HOOK_ENQUEUE,   HOOK_GC,
        HOOK_GC_HIBERNATE,  HOOK_RECEIVE,     HOOK_SPAWN,     HOOK_EXIT,
        HOOK_EXIT_CONTINUE, HOOK_DIRTY_NIF,   HOOK_DIRTY_BIF, HOOK_AUX_WORK,
        HOOK_CHECK_IO,      HOOK_FULL_SWEEP,  HOOK_FRAGMENT,  HOOK_SCHED_WAIT};
    struct hook_point point;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        assert_refused(refused[i], "; 0 functions of the VM match");
    assert_int_equal(hooks_find(bench.hooks, HOOK_SEND, &point, &error), 0);
    assert_int_equal(hooks_find(bench.hooks, HOOK_WAKE, &point, &error), 0);
    assert_int_equal(hooks_find(bench.hooks, HOOK_COPY, &point, &error), 0);
    assert_int_equal(hooks_bif(bench.hooks, "erlang", "spawn", 3, &point, &error), -1);
    assert_non_null(strstr(error.text, "table of BIFs"));
}

/* clang-format off */
JIT_FUNCTION(jit_other_receive,
    mov rdx, r15; mov rcx, rsp; mov rdi, r13; mov r8, r12; call [rip + 1f]; ret;
    .balign 8; 1: .quad other);
JIT_FUNCTION(jit_two_loops,
    sub rsp, 0x40; xor r13d, r13d; 1: xor edi, edi; mov rsi, r13; call [rip + 2f]; mov rdi, rax;
    mov rsi, rsp; call [rip + 3f]; xor edi, edi; xor esi, esi; call [rip + 4f]; mov rdi, rax;
    mov rsi, rsp; call [rip + 3f]; ret;
    .balign 8; 2: .quad vm_schedule; 3: .quad vm_copy_in; 4: .quad other);
JIT_FUNCTION(jit_exit_with_error, mov esi, 0xcb; mov rdi, r13; call [rip + 1f]; ret;
    .balign 8; 1: .quad vm_do_exit);
/* clang-format on */

static int start_ambiguous(void **state)
{
    (void)state;
    begin();
    LOAD("global", RANGE("global::process_main", jit_two_loops));
    LOAD("erts_beamasm", RANGE("erts_beamasm:normal_exit/0", jit_exit_with_error));
    LOAD("erts_code_purger", RANGE("erts_code_purger:wait_for_request/0", jit_receive_fp),
         RANGE("erts_code_purger:cpc_receive/4", jit_other_receive));
    open_hooks();
    return 0;
}

/* A hook with two matching functions is refused; so is one whose function is called with other
 * arguments. */
static void test_hook_with_two_matching_functions_is_refused(void **state)
{
    (void)state;
    assert_refused(HOOK_SCHEDULE_OUT, "; 2 functions of the VM match");
    assert_refused(HOOK_RECEIVE, "; 2 functions of the VM match");
    assert_refused(HOOK_EXIT, "; 0 functions of the VM match");
}

static int start_frame_pointers(void **state)
{
    (void)state;
    begin();
    LOAD("erts_code_purger", RANGE("erts_code_purger:wait_for_request/0", jit_receive_fp));
    open_hooks();
    return 0;
}

static void test_receive_hook_is_found_with_frame_pointers(void **state)
{
    struct hook_point point;
    struct error error;

    (void)state;
    assert_int_equal(hooks_find(bench.hooks, HOOK_RECEIVE, &point, &error), 0);
    assert_int_equal(point.address, at(vm_remove_message));
}

static void test_unknown_symbols_and_data_are_refused(void **state)
{
    struct hook_point point;
    struct error error;

    (void)state;
    assert_int_equal(hooks_symbol(bench.hooks, "enif_send", &point, &error), 0);
    assert_int_equal(point.address, at(enif_send));
    assert_int_equal(point.way, HOOK_BY_SYMBOL);
    assert_int_equal(hooks_symbol(bench.hooks, "no_such_function", &point, &error), -1);
    assert_int_equal(hooks_symbol(bench.hooks, "bifs", &point, &error), -1); /* data, not code */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_hook_is_found_without_its_symbol, start, stop),
        cmocka_unit_test_setup_teardown(test_hook_without_its_identifying_code_is_refused_alone,
                                        start_without_code, stop),
        cmocka_unit_test_setup_teardown(test_hook_with_two_matching_functions_is_refused,
                                        start_ambiguous, stop),
        cmocka_unit_test_setup_teardown(test_receive_hook_is_found_with_frame_pointers,
                                        start_frame_pointers, stop),
        cmocka_unit_test_setup_teardown(test_unknown_symbols_and_data_are_refused, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
