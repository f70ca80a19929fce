// SPDX-License-Identifier: Apache-2.0
/* The trace that a process works for, in the terms of its dictionary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "beam/process_trace.h"
#include "beam/term.h"
#include "fake_target.h"

enum { CONTEXT = 6, TRACER = 7, SPAN_CTX = 8, OTHER = 9, NIL = 0x3b };

static const struct wire_trace_atoms atoms = {CONTEXT << 6 | 0xb, TRACER << 6 | 0xb,
                                              SPAN_CTX << 6 | 0xb};

static struct fake_target *target;
static struct vm vm;
static uint64_t process;
static uint8_t copy[WIRE_PROCESS_BYTES]; /* of its struct */

static int start(void **state)
{
    (void)state;
    target = fake_target_new();
    vm = (struct vm){.memory = &target->memory};
    fake_release(&vm, 27);
    process = fake_room(target, (size_t)vm.layout.sizeof_process);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    free(target);
    return 0;
}

static void set(int32_t offset, uint64_t value)
{
    fake_put_u64(target, process + (uint64_t)offset, value);
}

/* The dictionary has 2 slots of 4 that it may grow to: the context's hash is 6, its slot 0. */
static void set_slot(uint64_t slot)
{
    uint64_t dictionary = fake_room(target, (size_t)vm.layout.sizeof_procdict + 4 * 8);

    fake_put_u32(target, dictionary + (uint64_t)vm.layout.procdict_size_mask, 3);
    fake_put_u32(target, dictionary + (uint64_t)vm.layout.procdict_used, 2);
    fake_put_u64(target, dictionary + (uint64_t)vm.layout.procdict_data, slot);
    fake_put_u64(target, dictionary + (uint64_t)vm.layout.procdict_data + 8, NIL);
    set(vm.layout.process_dictionary, dictionary);
}

static void take_copy(void)
{
    memcpy(copy, target->bytes + (process - FAKE_BASE), (size_t)vm.layout.sizeof_process);
}

static enum process_trace read_trace(struct wire_trace *trace)
{
    *trace = (struct wire_trace){0};
    return process_trace_read(&vm, &atoms, process, copy, trace);
}

static void assert_found(uint64_t high, uint64_t low, uint64_t span)
{
    struct wire_trace trace;

    take_copy();
    assert_int_equal(read_trace(&trace), PROCESS_TRACE_FOUND);
    assert_int_equal(trace.trace_high, high);
    assert_int_equal(trace.trace_low, low);
    assert_int_equal(trace.span, span);
}

static void assert_is(enum process_trace expected)
{
    struct wire_trace trace;

    take_copy();
    assert_int_equal(read_trace(&trace), expected);
}

/* ---- terms ---- */

static uint64_t key(uint64_t first, uint64_t second)
{
    return FAKE_TUPLE(target, 2, first, second);
}

static uint64_t entry(uint64_t name, uint64_t value)
{
    return FAKE_TUPLE(target, 2, name, value);
}

static uint64_t big(uint64_t low, uint64_t high)
{
    return (high ? FAKE_WORDS(target, 2 << 6 | POS_BIG_SUBTAG, low, high)
                 : FAKE_WORDS(target, 1 << 6 | POS_BIG_SUBTAG, low)) |
           2;
}

static uint64_t old_record(uint64_t trace, uint64_t span)
{
    return FAKE_TUPLE(target, 9, atoms.span_ctx, trace, span, 0xf, NIL, 0xb, 0xb, 0xb, NIL);
}

static uint64_t new_record(uint64_t trace, uint64_t span)
{
    return FAKE_TUPLE(target, 11, atoms.span_ctx, trace, NIL, span, NIL, 0xf, NIL, 0xb, 0xb, 0xb,
                      NIL);
}

/* A map of two keys, of which the second is the span's. */
static uint64_t context(uint64_t span_ctx)
{
    uint64_t keys = FAKE_TUPLE(target, 2, fake_atom_term(OTHER), key(atoms.tracer, atoms.span_ctx));

    return FAKE_WORDS(target, MAP_SUBTAG_27, 2, keys, fake_small(1), span_ctx) | 2;
}

static void set_span_ctx(uint64_t span_ctx)
{
    set_slot(entry(atoms.context, context(span_ctx)));
}

/* ---- tests ---- */

static void test_both_forms_of_the_record_are_read(void **state)
{
    (void)state;
    set_span_ctx(old_record(big(7, 8), big(9, 0)));
    assert_found(8, 7, 9);
    set_span_ctx(new_record(big(7, 8), big(9, 0)));
    assert_found(8, 7, 9);
    set_span_ctx(new_record(fake_small(1), fake_small(2)));
    assert_found(0, 1, 2);
}

static void test_entry_may_be_one_of_several_in_its_slot(void **state)
{
    uint64_t other = entry(fake_atom_term(OTHER), fake_small(1));
    uint64_t ours = entry(atoms.context, context(new_record(fake_small(1), fake_small(2))));

    (void)state;
    set_slot(fake_cons(target, other, fake_cons(target, ours, NIL)));
    assert_found(0, 1, 2);
    set_slot(fake_cons(target, other, fake_cons(target, other, NIL)));
    assert_is(PROCESS_TRACE_NONE);
}

static void test_slot_is_that_of_the_atom_s_index(void **state)
{
    uint64_t dictionary = fake_room(target, (size_t)vm.layout.sizeof_procdict + 8 * 8);
    uint64_t ours = entry(atoms.context, context(new_record(fake_small(1), fake_small(2))));

    (void)state;
    fake_put_u32(target, dictionary + (uint64_t)vm.layout.procdict_size_mask, 7);
    fake_put_u32(target, dictionary + (uint64_t)vm.layout.procdict_used, 7);
    for (uint64_t i = 0; i < 8; i++)
        fake_put_u64(target, dictionary + (uint64_t)vm.layout.procdict_data + 8 * i,
                     i == CONTEXT ? ours : NIL);
    set(vm.layout.process_dictionary, dictionary);
    assert_found(0, 1, 2);
    fake_put_u32(target, dictionary + (uint64_t)vm.layout.procdict_used, 6); /* now in slot 2 */
    assert_is(PROCESS_TRACE_NONE);
}

static void test_processes_without_a_span_have_no_trace(void **state)
{
    const uint64_t empty = FAKE_WORDS(target, 0); /* the tuple {} */

    (void)state;
    assert_is(PROCESS_TRACE_NONE); /* no dictionary */
    set_slot(NIL);
    assert_is(PROCESS_TRACE_NONE);
    set_slot(entry(atoms.context, fake_atom_term(OTHER)));
    assert_is(PROCESS_TRACE_NONE);
    set_slot(entry(atoms.context, FAKE_WORDS(target, MAP_SUBTAG_27, 0, empty | 2) | 2));
    assert_is(PROCESS_TRACE_NONE);
    set_span_ctx(fake_atom_term(OTHER));
    assert_is(PROCESS_TRACE_NONE);
    set_span_ctx(new_record(fake_small(0), fake_small(0)));
    assert_is(PROCESS_TRACE_NONE);
}

static void test_other_terms_are_unknown(void **state)
{
    uint64_t cycle = fake_cons(target, entry(fake_atom_term(OTHER), fake_small(1)), NIL);
    uint64_t keys = FAKE_TUPLE(target, 2, fake_atom_term(OTHER), fake_atom_term(OTHER));

    (void)state;
    fake_put_u64(target, term_address(cycle) + 8, cycle);
    set_slot(cycle);
    assert_is(PROCESS_TRACE_UNKNOWN);
    set_slot(fake_small(1));
    assert_is(PROCESS_TRACE_UNKNOWN);
    set_slot(FAKE_TUPLE(target, 3, atoms.context, NIL, NIL));
    assert_is(PROCESS_TRACE_UNKNOWN);
    set_slot(entry(atoms.context, fake_cons(target, NIL, NIL)));
    assert_is(PROCESS_TRACE_UNKNOWN);
    set_slot(entry(atoms.context, FAKE_WORDS(target, MAP_SUBTAG_27, 1ull << 60, keys) | 2));
    assert_is(PROCESS_TRACE_UNKNOWN);
    set_slot(entry(atoms.context, FAKE_WORDS(target, MAP_SUBTAG_27, 2, 8) | 2));
    assert_is(PROCESS_TRACE_UNKNOWN);
    set_span_ctx(FAKE_TUPLE(target, 4, atoms.span_ctx, fake_small(1), fake_small(2), NIL));
    assert_is(PROCESS_TRACE_UNKNOWN);
    set_span_ctx(new_record(fake_small(-1), fake_small(2)));
    assert_is(PROCESS_TRACE_UNKNOWN);
    set_span_ctx(new_record(fake_small(1), big(1, 1)));
    assert_is(PROCESS_TRACE_UNKNOWN);
    set_span_ctx(
        new_record(FAKE_WORDS(target, 3 << 6 | POS_BIG_SUBTAG, 1, 1, 1) | 2, fake_small(2)));
    assert_is(PROCESS_TRACE_UNKNOWN);
}

/* Terms move in a collection, and change when the process runs. */
static void test_terms_that_may_have_changed_are_unknown(void **state)
{
    struct wire_trace trace;

    (void)state;
    set_span_ctx(new_record(fake_small(1), fake_small(2)));
    fake_put_u32(target, process + (uint64_t)vm.layout.process_state, ERTS_PSFLG_GC);
    assert_is(PROCESS_TRACE_UNKNOWN);
    fake_put_u32(target, process + (uint64_t)vm.layout.process_state, 0);
    assert_found(0, 1, 2);
    fake_put_u32(target, process + (uint64_t)vm.layout.process_state, ERTS_PSFLG_RUNNING);
    assert_int_equal(read_trace(&trace), PROCESS_TRACE_UNKNOWN);
    fake_put_u32(target, process + (uint64_t)vm.layout.process_state, 0);
    set(vm.layout.process_reds, 1);
    assert_int_equal(read_trace(&trace), PROCESS_TRACE_UNKNOWN);
    target->gone = true;
    assert_int_equal(read_trace(&trace), PROCESS_TRACE_UNKNOWN);
}

/* DWARF of a hostile file gives a process 4096 bytes, the most that layout_check() allows. */
static void test_trace_of_a_struct_larger_than_in_any_release_is_unknown(void **state)
{
    struct wire_trace trace;

    (void)state;
    set_span_ctx(new_record(fake_small(1), fake_small(2)));
    assert_found(0, 1, 2);
    fake_room(target, 4096);
    vm.layout.sizeof_process = 4096;
    assert_int_equal(read_trace(&trace), PROCESS_TRACE_UNKNOWN);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(test_both_forms_of_the_record_are_read),
        TEST(test_entry_may_be_one_of_several_in_its_slot),
        TEST(test_slot_is_that_of_the_atom_s_index),
        TEST(test_processes_without_a_span_have_no_trace),
        TEST(test_other_terms_are_unknown),
        TEST(test_terms_that_may_have_changed_are_unknown),
        TEST(test_trace_of_a_struct_larger_than_in_any_release_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
