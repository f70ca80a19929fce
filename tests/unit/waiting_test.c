// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "symbol/waiting.h"

static frame_id frame_of(struct profile *profile, const char *symbol, enum frame_kind kind)
{
    const struct frame frame = {.symbol = profile_string_z(profile, symbol), .kind = (uint8_t)kind};

    return profile_frame(profile, &frame);
}

/* A stack of Erlang functions, root first: "a:b/0 c:d/1". */
static stack_id stack_of(struct profile *profile, const char *functions)
{
    char text[512], *rest = NULL;
    stack_id stack = 0;

    strcpy(text, functions);
    for (char *name = strtok_r(text, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        stack = profile_stack(profile, stack, frame_of(profile, name, FRAME_ERLANG));
    return stack;
}

static enum process_status status_of(const char *functions, bool has_messages)
{
    struct profile *profile = profile_new();
    struct waiting waiting = {NULL};
    enum process_status status =
        waiting_status(&waiting, profile, stack_of(profile, functions), has_messages);

    waiting_reset(&waiting);
    profile_free(profile);
    return status;
}

#define PROC_LIB "proc_lib:init_p_do_apply/3 "
#define CALLBACK PROC_LIB "gen_server:handle_msg/6 gen_server:try_handle_call/4 shop:handle_call/3 "

static const struct {
    const char *functions;
    enum process_status without, with; /* messages in the queue */
} cases[] = {
    {PROC_LIB "gen_server:loop/7", STATUS_IDLE, STATUS_IDLE},
    {PROC_LIB "gen_statem:loop_receive/3", STATUS_IDLE, STATUS_IDLE},
    {PROC_LIB "shop:init/1 gen_server:loop/5", STATUS_IDLE, STATUS_IDLE},
    {PROC_LIB "gen_event:fetch_msg/6", STATUS_IDLE, STATUS_IDLE},
    {"erlang:hibernate/3", STATUS_IDLE, STATUS_IDLE},
    {"init:loop/1", STATUS_IDLE, STATUS_IDLE},
    {PROC_LIB "rabbit_reader:mainloop/4 rabbit_net:recv/2", STATUS_IDLE, STATUS_IDLE},
    {PROC_LIB "IEx.Evaluator.loop/1", STATUS_IDLE, STATUS_IDLE},
    {PROC_LIB "ranch_acceptor:loop/5 prim_inet:accept0/3", STATUS_IDLE, STATUS_IDLE},
    {PROC_LIB "ranch_acceptor:loop/5 socket:accept_deadline/2", STATUS_IDLE, STATUS_IDLE},
    /* inside a call */
    {CALLBACK "gen_server:call/2 gen:do_call/4", STATUS_BLOCKED, STATUS_BLOCKED},
    {"shop:buy/1 gen_server:call/3 gen:do_call/4", STATUS_BLOCKED, STATUS_BLOCKED},
    {"shop:buy/1 timer:sleep/1", STATUS_BLOCKED, STATUS_BLOCKED},
    {"shop:read/1 socket:recv_deadline/5", STATUS_BLOCKED, STATUS_BLOCKED},
    {"shop:run/0 Task.await_receive/3", STATUS_BLOCKED, STATUS_BLOCKED},
    {"shop:stop/0 erlang:garbage_collect/2", STATUS_BLOCKED, STATUS_BLOCKED},
    {"shop:save/1 dets:req/2", STATUS_BLOCKED, STATUS_BLOCKED},
    /* in a callback of a behaviour, whatever it waits for */
    {CALLBACK "shop:wait/1", STATUS_BLOCKED, STATUS_BLOCKED},
    {PROC_LIB "gen_server:init_it/2 shop:init/1", STATUS_BLOCKED, STATUS_BLOCKED},
    {PROC_LIB "gen_statem:loop_state_callback/11 door:open/3 door:wait/0", STATUS_BLOCKED,
     STATUS_BLOCKED},
    /* not known */
    {"shop:loop/1", STATUS_WAITING, STATUS_BLOCKED},
    {PROC_LIB "shop:loop/1", STATUS_WAITING, STATUS_BLOCKED},
    {PROC_LIB "my_gen_server:loop/7", STATUS_WAITING, STATUS_BLOCKED},
    {PROC_LIB "gen_server:loop/7 shop:loop/1", STATUS_WAITING, STATUS_BLOCKED},
    {"", STATUS_WAITING, STATUS_BLOCKED},
};

static void test_functions_tell_what_a_process_waits_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        enum process_status without = status_of(cases[i].functions, false),
                            with = status_of(cases[i].functions, true);

        if (without != cases[i].without || with != cases[i].with)
            fail_msg("%s: %s, with messages %s", cases[i].functions, process_status_name(without),
                     process_status_name(with));
    }
}

/* Event sched samples a process while the scheduler runs it. */
static void test_native_frames_and_marks_are_passed_over(void **state)
{
    struct profile *profile = profile_new();
    struct waiting waiting = {NULL};
    stack_id stack = stack_of(profile, PROC_LIB "gen_server:loop/7");

    (void)state;
    stack = profile_stack(profile, stack, frame_of(profile, "gen:do_call/4", FRAME_RUNTIME));
    stack = profile_stack(profile, stack, frame_of(profile, "timer:sleep/1", FRAME_NATIVE));
    stack = profile_stack(profile, stack, frame_of(profile, "erlang:monitor/2", FRAME_MARK));
    assert_int_equal(waiting_status(&waiting, profile, stack, false), STATUS_IDLE);
    stack = profile_stack(profile, stack, frame_of(profile, "erlang:process_info/2", FRAME_BIF));
    assert_int_equal(waiting_status(&waiting, profile, stack, false), STATUS_BLOCKED);
    waiting_reset(&waiting);
    profile_free(profile);
}

/* Stacks of another profile have the same numbers. */
static void test_reset_forgets_the_stacks_of_a_profile(void **state)
{
    struct profile *first = profile_new(), *second = profile_new();
    struct waiting waiting = {NULL};
    stack_id idle = stack_of(first, "init:loop/1"), blocked = stack_of(second, "timer:sleep/1");

    (void)state;
    assert_int_equal(idle, blocked);
    assert_int_equal(waiting_status(&waiting, first, idle, false), STATUS_IDLE);
    assert_int_equal(waiting_status(&waiting, first, idle, false), STATUS_IDLE);
    waiting_reset(&waiting);
    assert_int_equal(waiting_status(&waiting, second, blocked, false), STATUS_BLOCKED);
    waiting_reset(&waiting);
    profile_free(first);
    profile_free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_tell_what_a_process_waits_for),
        cmocka_unit_test(test_native_frames_and_marks_are_passed_over),
        cmocka_unit_test(test_reset_forgets_the_stacks_of_a_profile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
