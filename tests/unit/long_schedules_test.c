// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/summary/summary_internal.h"
#include "profile/events.h"

enum { MS = 1000000 };

static struct profile *profile;
static stack_id in_nif, behind;

static stack_id stack_of(const char *symbol, enum frame_kind kind, stack_id parent)
{
    struct frame frame = {.symbol = profile_string_z(profile, symbol), .kind = (uint8_t)kind};

    return profile_stack(profile, parent, profile_frame(profile, &frame));
}

static int set_up(void **state)
{
    stack_id caller;

    (void)state;
    profile = profile_new();
    caller = stack_of("a:run/0", FRAME_ERLANG, 0);
    in_nif = stack_of("spin", FRAME_NATIVE, stack_of("a:spin/1", FRAME_BIF, caller));
    behind = caller;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    profile_free(profile);
    return 0;
}

static void add(struct long_schedules *slices, uint64_t time, uint64_t ns, process_id process,
                thread_id thread, stack_id stack, enum process_status status)
{
    long_schedules_add(slices, &(struct sample){.time = time,
                                                .slice = ns,
                                                .stack = stack,
                                                .process = process,
                                                .thread = thread,
                                                .status = (uint8_t)status});
}

static void assert_slice(const struct long_schedule *slice, uint64_t end, uint64_t ns,
                         process_id process, stack_id stack)
{
    assert_int_equal(slice->end, end);
    assert_int_equal(slice->ns, ns);
    assert_int_equal(slice->process, process);
    assert_int_equal(slice->stack, stack);
}

/* The parts of a long schedule are joined, even if another scheduler has one at the same time. */
static void test_parts_of_a_long_schedule_are_joined(void **state)
{
    struct long_schedules slices = {0};

    (void)state;
    add(&slices, 112 * MS, 12 * MS, 1, 1, in_nif, STATUS_RUNNING);
    add(&slices, 115 * MS, 10 * MS, 2, 2, behind, STATUS_RUNNING);
    add(&slices, 117 * MS + 200, 5 * MS, 1, 1, in_nif, STATUS_RUNNING);
    add(&slices, 118 * MS, 1 * MS, 1, 1, behind, STATUS_WAITING);
    add(&slices, 130 * MS, 15 * MS, 2, 2, behind, STATUS_RUNNABLE);
    assert_int_equal(slices.count, 2);
    assert_slice(&slices.longest[0], 130 * MS, 25 * MS, 2, behind);
    assert_slice(&slices.longest[1], 118 * MS, 18 * MS, 1, in_nif);
    long_schedules_free(&slices);
}

/* Long schedules of one process, one after the other on one scheduler, stay separate. */
static void test_successive_long_schedules_stay_separate(void **state)
{
    struct long_schedules slices = {0};

    (void)state;
    add(&slices, 120 * MS, 20 * MS, 1, 1, behind, STATUS_RUNNABLE);
    add(&slices, 135 * MS, 15 * MS, 1, 1, behind, STATUS_RUNNING); /* its end is lost */
    add(&slices, 190 * MS, 30 * MS, 1, 1, behind, STATUS_RUNNING);
    long_schedules_finish(&slices);
    assert_int_equal(slices.slices, 3);
    assert_slice(&slices.longest[0], 190 * MS, 30 * MS, 1, behind);
    assert_slice(&slices.longest[1], 120 * MS, 20 * MS, 1, behind);
    assert_slice(&slices.longest[2], 135 * MS, 15 * MS, 1, behind);
    long_schedules_free(&slices);
}

static void test_longest_schedules_are_kept(void **state)
{
    struct long_schedules slices = {0};

    (void)state;
    for (uint64_t i = 0; i < 100; i++) /* 10 to 109 ms, unordered */
        add(&slices, (i + 1) * 1000 * MS, (10 + i * 37 % 100) * MS, 1, 1, behind, STATUS_WAITING);
    assert_int_equal(slices.slices, 100);
    assert_int_equal(slices.count, LONG_SLICES_MAX);
    for (uint64_t i = 0; i < LONG_SLICES_MAX; i++)
        assert_int_equal(slices.longest[i].ns, (109 - i) * MS);
    long_schedules_free(&slices);
}

/* The text shows the Erlang function, BIF or NIF next to the leaf, and its callers. */
static void test_text_shows_the_function_next_to_the_leaf(void **state)
{
    struct process_entry process = {.identity = 1,
                                    .pid = profile_string_z(profile, "<0.85.0>"),
                                    .name = profile_string_z(profile, "cart")};
    process_id cart = profile_process(profile, &process);
    stack_id deep = in_nif, bare = stack_of("beam.smp+0x10", FRAME_NATIVE, 0);
    struct long_schedules slices = {0};
    char name[8], *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    (void)state;
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof(name), "b:f/%d", i);
        deep = stack_of(name, FRAME_ERLANG, deep);
        deep = stack_of(name, FRAME_ERLANG, deep); /* recursion */
    }
    add(&slices, 1012 * MS, 12 * MS, cart, 1, in_nif, STATUS_WAITING);
    add(&slices, 1030 * MS, 11 * MS, cart, 1, deep, STATUS_WAITING);
    add(&slices, 1050 * MS, 10 * MS, cart, 1, bare, STATUS_WAITING);
    long_schedules_write(file, profile, &slices, LONG_SLICES_MAX, 1000 * MS);
    fclose(file);
    assert_string_equal(
        text, "\nlong schedules: 3 seen\n"
              "           12.0 ms  until     0.012 s  <0.85.0>  cart  in a:spin/1\n"
              "                    called by a:run/0\n"
              "           11.0 ms  until     0.030 s  <0.85.0>  cart  in b:f/5\n"
              "                    called by b:f/4, b:f/3, b:f/2, b:f/1, ...\n"
              "           10.0 ms  until     0.050 s  <0.85.0>  cart  in beam.smp+0x10\n");
    free(text);
    long_schedules_free(&slices);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_parts_of_a_long_schedule_are_joined, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_successive_long_schedules_stay_separate, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_longest_schedules_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_text_shows_the_function_next_to_the_leaf, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
