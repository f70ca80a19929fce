// SPDX-License-Identifier: Apache-2.0
/* The states of symbol/unwind.h: BIFs, NIFs and fragments of the JIT. */
#include "unwind_bench.h"

/* A light BIF is identified by the Export that the fragment keeps; its caller is at the leaf end of
 * the stack, and the return address may be unaligned. */
static void test_light_bif_is_identified_by_its_export(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_c(&b, code_at(&b, LIGHT_BIF, 0x30));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x33), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, {EXPORT, ADDRESS_EXPORT, true},
                 CALLER(code_at(&b, FUNCTION_F, 0x33)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* Only the head of a scheduler is copied: a field that an unusual layout puts beyond it is not
 * read. */
static void test_field_beyond_the_copied_scheduler_is_not_read(void **state)
{
    (void)state;
    for (int32_t at = WIRE_SCHEDULER_BYTES - 8; at <= WIRE_SCHEDULER_BYTES - 7; at++) {
        struct bench b;

        open_bench(&b);
        b.vm.layout.sched_registers = at;
        memcpy(b.scheduler + at, &(uint64_t){REGISTERS}, (size_t)(WIRE_SCHEDULER_BYTES - at));
        stop_in_c(&b, code_at(&b, LIGHT_BIF, 0x30));
        SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x33));
        run(&b);
        assert_int_equal(b.result->frames[1].kind,
                         at == WIRE_SCHEDULER_BYTES - 8 ? ADDRESS_EXPORT : ADDRESS_CODE);
        close_bench(&b);
    }
}

/* The NIF's caller is the leaf: Process.current may not be the NIF's yet. */
static void test_caller_of_a_nif_is_the_leaf_before_the_nif_starts(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_current(&b, ATOM_MODULE, ATOM_FUNCTION, 3);
    stop_in_c(&b, code_at(&b, NIF, 0x30));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x33), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, NIF, 0x30)),
                 CALLER(code_at(&b, FUNCTION_F, 0x33)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    close_bench(&b);
}

/* Process.current is set before a BIF is called, so the BIF is the leaf. */
static void test_bif_is_the_leaf_before_it_starts(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_current(&b, ATOM_MODULE, ATOM_FUNCTION, 3);
    stop_in_c(&b, code_at(&b, BIF, 0x30));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x33), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, {packed(3), ADDRESS_MFA, true},
                 CALLER(code_at(&b, FUNCTION_F, 0x33)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    close_bench(&b);
}

/* Other BIFs and NIFs are identified by Process.current, or by the fragment if that is not set. */
static void test_bifs_and_nifs_are_identified_by_process_current(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        enum place place = i & 1 ? BIF : NIF;
        bool mfa = i & 2;
        struct bench b;

        open_bench(&b);
        if (mfa)
            set_current(&b, ATOM_MODULE, ATOM_FUNCTION, 3);
        stop_deep_in_c(&b, code_at(&b, place, 0x30));
        SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x33), code_at(&b, FUNCTION_G, 0x20));
        run(&b);
        if (mfa)
            CHECK_FRAMES(&b, NATIVE_LEAF, NATIVE_CALLER, {packed(3), ADDRESS_MFA, true},
                         CALLER(code_at(&b, FUNCTION_F, 0x33)),
                         CALLER(code_at(&b, FUNCTION_G, 0x20)));
        else
            CHECK_FRAMES(&b, NATIVE_LEAF, NATIVE_CALLER, CALLER(code_at(&b, place, 0x30)),
                         CALLER(code_at(&b, FUNCTION_F, 0x33)),
                         CALLER(code_at(&b, FUNCTION_G, 0x20)));
        close_bench(&b);
    }
}

/* If a fragment calls C, or calls another fragment that calls C, all fragments and the caller are
 * shown. */
static void test_all_fragments_and_their_caller_are_shown(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_c(&b, code_at(&b, COLLECT, 0x30));
    SET_STACK(&b, STACK, code_at(&b, PLUS, 0x31), code_at(&b, FUNCTION_F, 0x33),
              code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, COLLECT, 0x30)),
                 CALLER(code_at(&b, PLUS, 0x31)), CALLER(code_at(&b, FUNCTION_F, 0x33)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* Unaligned words are return addresses only at the leaf end; further rootwards they are terms. */
static void test_unaligned_word_is_a_return_address_only_at_the_leaf(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_register(&b, CPU_RIP, code_at(&b, FUNCTION_F, 0x10));
    set_register(&b, CPU_RSP, STACK);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20), code_at(&b, FUNCTION_F, 0x33),
              code_at(&b, FUNCTION_G, 0x24));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_G, 0x20)),
                 CALLER(code_at(&b, FUNCTION_G, 0x24)));
    close_bench(&b);
}

/* The fragments of length/1 have their return address one word below the saved leaf end. */
static void test_length_has_its_return_address_below_the_leaf_end(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_c(&b, code_at(&b, LENGTH, 0x30));
    SET_STACK(&b, STACK - 8, code_at(&b, FUNCTION_F, 0x33), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, LENGTH, 0x30)),
                 CALLER(code_at(&b, FUNCTION_F, 0x33)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    close_bench(&b);
}

/* A process that is being scheduled has its next instruction in Process.i. */
static void test_scheduled_process_continues_at_process_i(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    put_word(b.process, b.vm.layout.process_i, code_at(&b, FUNCTION_F, 0x18));
    stop_in_c(&b, code_at(&b, MAIN, 0x30));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, MAIN, 0x30)),
                 LEAF(code_at(&b, FUNCTION_F, 0x18)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

static void test_scheduler_without_a_process_has_only_its_frames(void **state)
{
    struct snapshot snapshot;
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_c(&b, code_at(&b, MAIN, 0x30));
    fake_region(&b.sample, REGION_SCHEDULER, 0x1000, b.scheduler, sizeof(b.scheduler));
    assert_true(fake_sample_open(&b.sample, &snapshot));
    b.result = unwind(b.unwinder, &snapshot);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, MAIN, 0x30)));
    assert_false(b.result->complete);
    assert_false(b.result->native_broken);
    close_bench(&b);
}

/* A fragment that is called on the C stack: its return address is the first word there, and the
 * frame of its caller is at the leaf end of the Erlang stack. */
static void test_fragment_on_the_native_stack_has_its_caller(void **state)
{
    struct bench b;

    for (int in_c = 0; in_c < 2; in_c++) {
        (void)state;
        open_bench(&b);
        set_frame(&b, FUNCTION_F, 2);
        fake_put(b.target, code_at(&b, FUNCTION_F, 0x30), "\x48\x89\xec\x90", 4);
        const uint64_t words[] = {
            code_at(&b, INIT_BITS, 0x14), STACK, code_at(&b, FUNCTION_F, 0x30), 0, 0, EXPORT};

        put_word(b.scheduler, b.vm.layout.sched_registers, NATIVE + 24);
        set_register(&b, CPU_RIP, in_c ? native_pc() : code_at(&b, INIT_BITS, 0x14));
        set_register(&b, CPU_RSP, in_c ? NATIVE : NATIVE + 8);
        set_register(&b, CPU_RBP, STACK - 8);
        fake_region(&b.sample, REGION_NATIVE, NATIVE, words, sizeof(words));
        SET_STACK(&b, STACK - 8, code_at(&b, FUNCTION_F, 0x40), code_at(&b, FUNCTION_F, 0x44),
                  code_at(&b, FUNCTION_G, 0x20));
        run(&b);
        if (in_c)
            CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, INIT_BITS, 0x14)),
                         CALLER(code_at(&b, FUNCTION_F, 0x30)),
                         CALLER(code_at(&b, FUNCTION_G, 0x20)));
        else
            CHECK_FRAMES(&b, LEAF(code_at(&b, INIT_BITS, 0x14)),
                         CALLER(code_at(&b, FUNCTION_F, 0x30)),
                         CALLER(code_at(&b, FUNCTION_G, 0x20)));
        assert_true(b.result->complete);
        close_bench(&b);
    }
}

/* A process continues at Process.i, unless Process.i is in run_process, which takes the function
 * from elsewhere, or in no known code. */
static void test_process_continues_at_process_i_unless_in_run_process(void **state)
{
    static const struct fake_range ranges[] = {{0, 0x40, "erts_beamasm:run_process/3"},
                                               {0x40, PAGE, "erts_beamasm:normal_exit/0"}};
    struct error error;
    struct bench b;
    uint64_t start;

    (void)state;
    open_bench(&b);
    start = fake_room(b.target, PAGE);
    fake_load(b.target, &b.vm, fake_symfile("erts_beamasm", start, PAGE, ranges, 2));
    assert_int_equal(code_refresh(b.code, &error), 0);
    assert_false(unwind_resumes_at(b.code, start + 8));
    assert_true(unwind_resumes_at(b.code, start + 0x48));
    assert_true(unwind_resumes_at(b.code, code_at(&b, FUNCTION_F, 0x10)));
    assert_false(unwind_resumes_at(b.code, 0));
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_light_bif_is_identified_by_its_export),
        cmocka_unit_test(test_field_beyond_the_copied_scheduler_is_not_read),
        cmocka_unit_test(test_caller_of_a_nif_is_the_leaf_before_the_nif_starts),
        cmocka_unit_test(test_bif_is_the_leaf_before_it_starts),
        cmocka_unit_test(test_process_continues_at_process_i_unless_in_run_process),
        cmocka_unit_test(test_bifs_and_nifs_are_identified_by_process_current),
        cmocka_unit_test(test_all_fragments_and_their_caller_are_shown),
        cmocka_unit_test(test_fragment_on_the_native_stack_has_its_caller),
        cmocka_unit_test(test_unaligned_word_is_a_return_address_only_at_the_leaf),
        cmocka_unit_test(test_length_has_its_return_address_below_the_leaf_end),
        cmocka_unit_test(test_scheduled_process_continues_at_process_i),
        cmocka_unit_test(test_scheduler_without_a_process_has_only_its_frames),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
