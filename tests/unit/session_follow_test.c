// SPDX-License-Identifier: Apache-2.0
/* What happens to targets when the rules change. The linker calls __wrap_NAME of this file instead
 * of functions that need a VM (UNIT_WRAPPED in the Makefile). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/session_internal.h"

void __wrap_node_name_now(struct vm *vm, char *name, size_t size);
bool __wrap_target_is_readable(const struct target *target);
void __wrap_target_note_end(const struct target *target, struct segment *segment);
void __wrap_symbolizer_look_at_threads(struct symbolizer *symbolizer, bool has_rested);
void __wrap_arrivals_again(struct arrivals *arrivals, pid_t pid);
void __wrap_event_samples_leave(struct target *target);
void __wrap_programs_remove_target(struct programs *programs, const struct vm *vm);

enum { VMS = 4, DEAD = 2 };

/* A session of VMs with the names "n0", "n1"... */
static struct followed {
    struct target targets[VMS], *list[VMS];
    struct vm vms[VMS];
    struct memory memory;
    struct targets all;
    struct session session;
    bool has_ended[VMS];
    size_t again, ends;
} followed;

void __wrap_node_name_now(struct vm *vm, char *name, size_t size)
{
    snprintf(name, size, "n%d", (int)(vm - followed.vms));
}

bool __wrap_target_is_readable(const struct target *target)
{
    return !followed.has_ended[target - followed.targets];
}

void __wrap_target_note_end(const struct target *target, struct segment *segment)
{
    (void)target;
    (void)segment;
    followed.ends++;
}

void __wrap_symbolizer_look_at_threads(struct symbolizer *symbolizer, bool has_rested)
{
    (void)symbolizer;
    (void)has_rested;
}

void __wrap_arrivals_again(struct arrivals *arrivals, pid_t pid)
{
    (void)arrivals;
    (void)pid;
    followed.again++;
}

void __wrap_event_samples_leave(struct target *target)
{
    (void)target;
}

void __wrap_programs_remove_target(struct programs *programs, const struct vm *vm)
{
    (void)programs;
    (void)vm;
}

static int begin(void **state)
{
    static struct target_rule before = {.profile = true};

    (void)state;
    followed = (struct followed){
        .all = {.of = followed.list, .count = VMS, .all = true, .may_be_none = true}};
    followed.session.targets = &followed.all;
    for (int i = 0; i < VMS; i++) {
        followed.vms[i] = (struct vm){.pid = getpid(), .memory = &followed.memory};
        followed.targets[i] = (struct target){.vm = &followed.vms[i], .rule = &before};
        followed.list[i] = &followed.targets[i];
    }
    return 0;
}

static size_t count_ended(void)
{
    size_t count = 0;

    for (int i = 0; i < VMS; i++)
        count += followed.targets[i].ended;
    return count;
}

/* The new rules change how n0 and n1 are recorded, exclude n2, and leave n3 as it is. */
static struct target_rule others[] = {
    {.node = "n[01]", .profile = true, .plan = {.wall_frequency = 5}},
    {.node = "n2", .profile = false},
    {.profile = true}};
enum { RULES = sizeof(others) / sizeof(*others) };

/* VMs that leave keep their numbers until the recording ends. */
static void test_vms_leave_only_if_there_is_room_to_join_again(void **state)
{
    struct error error;

    (void)state;
    followed.session.room = VMS + 1;
    assert_int_equal(session_set_rules(&followed.session, others, RULES, &error), -1);
    assert_string_equal(error.text, "there is no room for 2 VMs to join again");
    assert_int_equal(count_ended(), 0);
    begin(NULL);
    followed.session.room = VMS + 2;
    assert_int_equal(session_set_rules(&followed.session, others, RULES, &error), 0);
    assert_int_equal(count_ended(), 3);
    assert_int_equal(followed.again, 3);
    assert_null(followed.targets[0].rule);
    assert_ptr_equal(followed.targets[3].rule, &others[2]);
}

/* A VM that has ended is not judged by its name, which nobody can read any more. */
static void test_ended_vms_leave_before_rules_change(void **state)
{
    struct error error;

    (void)state;
    followed.session.room = 2 * VMS;
    followed.has_ended[DEAD] = followed.has_ended[0] = true;
    followed.targets[0].ended = true; /* noticed before */
    assert_int_equal(session_notice_ends(&followed.session, &error), 0);
    assert_true(followed.targets[DEAD].ended);
    assert_int_equal(count_ended(), 2);
    assert_int_equal(followed.ends, 1);
    assert_int_equal(session_set_rules(&followed.session, others, RULES, &error), 0);
    assert_int_equal(followed.again, 1);
    assert_null(followed.targets[DEAD].rule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_vms_leave_only_if_there_is_room_to_join_again, begin),
        cmocka_unit_test_setup(test_ended_vms_leave_before_rules_change, begin),
    };

    return cmocka_run_group_tests_name("session_follow", tests, NULL, NULL);
}
