// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "symbol/frames_internal.h"

enum { FRAMES = 16 };

/* The classes of a stack, leaf first. */
struct classes {
    uint8_t of[FRAMES];
    size_t count;
};

/* Add a frame on the leaf side. */
static void add(struct classes *classes, const char *symbol, enum frame_kind kind)
{
    assert_true(classes->count < FRAMES);
    memmove(classes->of + 1, classes->of, classes->count++);
    classes->of[0] = (uint8_t)waiting_class_of(kind, symbol);
}

/* A stack of Erlang functions, root first: "a:b/0 c:d/1". */
static struct classes classes_of(const char *functions)
{
    struct classes classes = {.count = 0};
    char text[512], *rest = NULL;

    strcpy(text, functions);
    for (char *name = strtok_r(text, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        add(&classes, name, FRAME_ERLANG);
    return classes;
}

static enum process_status status_of(const char *functions, bool has_messages)
{
    const struct classes classes = classes_of(functions);

    return waiting_status(classes.of, classes.count, has_messages);
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
            fail_msg("%s: %s, with messages %s", cases[i].functions, profile_status_name(without),
                     profile_status_name(with));
    }
}

/* Event sched samples a process while the scheduler runs it. */
static void test_native_frames_and_marks_are_passed_over(void **state)
{
    struct classes classes = classes_of(PROC_LIB "gen_server:loop/7");

    (void)state;
    add(&classes, "gen:do_call/4", FRAME_RUNTIME);
    add(&classes, "timer:sleep/1", FRAME_NATIVE);
    add(&classes, "timer:sleep/1", FRAME_KERNEL);
    add(&classes, "erlang:monitor/2", FRAME_MARK);
    assert_int_equal(waiting_status(classes.of, classes.count, false), STATUS_IDLE);
    add(&classes, "erlang:process_info/2", FRAME_BIF);
    assert_int_equal(waiting_status(classes.of, classes.count, false), STATUS_BLOCKED);
}

/* A name of the lists matches as a whole: a function of any arity, or all of a module. */
static void test_function_has_the_class_of_its_name(void **state)
{
    static const struct {
        const char *symbol;
        enum waiting_class class;
    } functions[] = {
        {"gen_server:loop/5", WAITING_MAIN_LOOP},
        {"gen_server:loops/5", WAITING_INSIDE},
        {"gen_server:call/3", WAITING_INSIDE},
        {"gen_server:init_it/2", WAITING_CALLER},
        {"gen_server:try_handle_x/1", WAITING_CALLER},
        {"gen_server", WAITING_UNKNOWN},
        {"gen:do_call/4", WAITING_CALLER},
        {"shop:loop/1", WAITING_UNKNOWN},
        {"", WAITING_UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
        if (waiting_class_of(FRAME_ERLANG, functions[i].symbol) != functions[i].class)
            fail_msg("%s", functions[i].symbol);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_tell_what_a_process_waits_for),
        cmocka_unit_test(test_native_frames_and_marks_are_passed_over),
        cmocka_unit_test(test_function_has_the_class_of_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
