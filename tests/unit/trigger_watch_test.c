// SPDX-License-Identifier: Apache-2.0
/* What a watch of triggers takes over when others replace them. The VM is this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/trigger_watch.h"
#include "util/clock.h"

static struct memory memory;

static struct trigger trigger(const char *name, const char *text)
{
    struct trigger trigger;
    struct error error;

    assert_int_equal(trigger_parse(text, &trigger, &error), 0);
    trigger.name = name;
    return trigger;
}

/* `context`: the name of the only trigger that may fire; NULL: all may. */
static bool may_fire(void *context, const struct trigger *trigger)
{
    return !context || !strcmp(context, trigger->name);
}

/* Return the name of the trigger that fires `seconds` from now; "" if none does. */
static const char *fired(struct target *target, unsigned seconds, char *only)
{
    struct trigger_look look = {.now = clock_ns(CLOCK_MONOTONIC) + seconds * UINT64_C(1000000000),
                                .may_fire = may_fire,
                                .context = only};
    struct buffer text = {0};
    const struct trigger *fires = trigger_watch_look(target->trigger_watch, &look, &text);

    buffer_free(&text);
    return fires ? fires->name : "";
}

static void test_triggers_of_one_condition_continue_by_their_names(void **state)
{
    struct vm vm = {.pid = getpid(), .memory = &memory, .identity = process_identity(getpid())};
    struct target target = {.vm = &vm};
    struct session_options options = {
        .triggers = {trigger("first", "memory>1"), trigger("second", "memory>1")},
        .trigger_count = 2};
    struct trigger before[TRIGGERS_MAX];
    struct error error;

    (void)state;
    assert_int_equal(trigger_watch_add(&target, &options, &error), 0);
    assert_string_equal(fired(&target, 2, "first"), "first");
    memcpy(before, options.triggers, sizeof(before));
    options.triggers[0] = before[1];
    options.triggers[1] = before[0];
    assert_int_equal(trigger_watch_replace(&target, &options, before, &error), 0);
    assert_string_equal(fired(&target, 4, "first"), "");
    assert_string_equal(fired(&target, 6, NULL), "second");
    trigger_watch_free(target.trigger_watch);
}

static void test_vm_that_has_ended_is_not_watched(void **state)
{
    pid_t pid = fork();
    struct vm vm = {.pid = pid};
    struct target target = {.vm = &vm};
    struct session_options options = {.triggers = {trigger(NULL, "exit")}, .trigger_count = 1};
    struct trigger before[TRIGGERS_MAX];
    struct error error;

    (void)state;
    if (pid == 0)
        _exit(0);
    vm.memory = memory_of_process(pid);
    assert_int_equal(trigger_watch_add(&target, &options, &error), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    memcpy(before, options.triggers, sizeof(before));
    options.triggers[0] = trigger(NULL, "msgq>1000");
    assert_int_equal(trigger_watch_replace(&target, &options, before, &error), 0);
    assert_null(target.trigger_watch);
    memory_free(vm.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_triggers_of_one_condition_continue_by_their_names),
        cmocka_unit_test(test_vm_that_has_ended_is_not_watched),
    };

    return cmocka_run_group_tests_name("trigger_watch", tests, NULL, NULL);
}
