// SPDX-License-Identifier: Apache-2.0
/* The states of symbol/unwind.h: where the Erlang stack begins. */
#include "unwind_bench.h"

/* In JIT code whose machine stack is the Erlang stack, rsp is its leaf end; Process.stop is not. */
static void test_rsp_is_the_leaf_end_in_jit_code(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_register(&b, CPU_RIP, code_at(&b, FUNCTION_F, 0x10));
    set_register(&b, CPU_RSP, STACK - 16);
    SET_STACK(&b, STACK - 16, code_at(&b, FUNCTION_G, 0x20), code_at(&b, FUNCTION_F, 0x40));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_G, 0x20)),
                 CALLER(code_at(&b, FUNCTION_F, 0x40)));
    assert_true(b.result->complete);
    assert_false(b.result->truncated || b.result->no_leaf || b.result->native_broken);
    close_bench(&b);
}

/* In JIT code on the native stack, next to a call into C, that call has the leaf end. */
static void test_stop_is_the_leaf_end_of_jit_code_on_the_native_stack(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_register(&b, CPU_RIP, code_at(&b, FUNCTION_F, 0x10));
    set_register(&b, CPU_RSP, NATIVE);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* A call from JIT code on the native stack that does not save the leaf end leaves it in rbp. */
static void test_rbp_is_the_leaf_end_if_jit_code_did_not_save_it(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    fake_put(b.target, code_at(&b, FUNCTION_F, 0x10), "\x48\x89\xec\x90", 4);
    set_register(&b, CPU_RIP, code_at(&b, FUNCTION_F, 0x10));
    set_register(&b, CPU_RSP, NATIVE);
    set_register(&b, CPU_RBP, STACK - 8);
    SET_STACK(&b, STACK - 8, code_at(&b, FUNCTION_F, 0x40), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_F, 0x40)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_false(b.result->no_leaf);
    close_bench(&b);
}

/* If C code was called after the leaf end was saved, Process.stop has the leaf end, whatever is in
 * rbp. */
static void test_stop_is_the_leaf_end_of_c_code_after_a_save(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    fake_put(b.target, code_at(&b, FUNCTION_F, 0x30), "\x49\x8b\x65\x50", 4);
    stop_in_c(&b, code_at(&b, FUNCTION_F, 0x30));
    set_register(&b, CPU_RBP, STACK - 8);
    SET_STACK(&b, STACK - 8, code_at(&b, FUNCTION_F, 0x40), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, FUNCTION_F, 0x30)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    assert_false(b.result->native_broken || b.result->no_leaf);
    close_bench(&b);
}

/* If C code was called without saving the leaf end, the leaf end is in rbp, which the C frames
 * preserved. */
static void test_rbp_is_the_leaf_end_of_c_code_without_a_save(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    fake_put(b.target, code_at(&b, FUNCTION_F, 0x30), "\x48\x89\xec\x90", 4);
    stop_in_c(&b, code_at(&b, FUNCTION_F, 0x30));
    set_register(&b, CPU_RBP, STACK - 8);
    SET_STACK(&b, STACK - 8, code_at(&b, FUNCTION_F, 0x40), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, FUNCTION_F, 0x30)),
                 CALLER(code_at(&b, FUNCTION_F, 0x40)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    assert_false(b.result->no_leaf);
    close_bench(&b);
}

/* OTP 24 has the leaf end in r12, and the Export of a light BIF in r14. */
static void test_otp_24_has_the_leaf_end_in_r12(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    b.vm.features = features_of(&(struct build){.otp_release = 24, .native_stack = true});
    fake_put(b.target, code_at(&b, FUNCTION_F, 0x30), "\x4c\x89\xe4", 3);
    stop_in_c(&b, code_at(&b, FUNCTION_F, 0x30));
    set_register(&b, CPU_RBP, STACK);
    set_register(&b, CPU_R12, STACK - 8);
    SET_STACK(&b, STACK - 8, code_at(&b, FUNCTION_F, 0x40));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, FUNCTION_F, 0x30)),
                 CALLER(code_at(&b, FUNCTION_F, 0x40)));
    close_bench(&b);

    open_bench(&b);
    b.vm.features = features_of(&(struct build){.otp_release = 24, .native_stack = true});
    stop_in_c(&b, code_at(&b, LIGHT_BIF, 0x30));
    set_register(&b, CPU_R14, EXPORT + 0x100);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x33));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, {EXPORT + 0x100, ADDRESS_EXPORT, true},
                 CALLER(code_at(&b, FUNCTION_F, 0x33)));
    close_bench(&b);
}

/* A register that cannot be the stack pointer is ignored: the known frames are shown, with a mark
 * for the missing ones. */
static void test_register_that_is_no_stack_pointer_is_ignored(void **state)
{
    static const uint64_t values[] = {0, STACK + 1, HEND + 8, HEAP, NATIVE};

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        struct bench b;

        open_bench(&b);
        fake_put(b.target, code_at(&b, FUNCTION_F, 0x30), "\x48\x89\xec\x90", 4);
        stop_in_c(&b, code_at(&b, FUNCTION_F, 0x30));
        set_register(&b, CPU_RBP, values[i]);
        SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
        run(&b);
        CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, FUNCTION_F, 0x30)),
                     {0, ADDRESS_MISSING, false}, CALLER(code_at(&b, FUNCTION_G, 0x20)));
        assert_true(b.result->no_leaf);
        assert_false(b.result->complete);
        close_bench(&b);
    }
}

/* If the C frames cannot be unwound, the return address into the JIT is at its fixed place. */
static void test_broken_native_stack_still_leads_to_jit_code(void **state)
{
    const uint64_t words[] = {0, 0};
    struct bench b;
    uint64_t jit;

    (void)state;
    open_bench(&b);
    jit = code_at(&b, FUNCTION_F, 0x30);
    set_register(&b, CPU_RIP, 0x666000);
    set_register(&b, CPU_RSP, NATIVE - 16);
    fake_region(&b.sample, REGION_NATIVE, NATIVE - 16, words, sizeof(words));
    fake_region(&b.sample, REGION_NATIVE, NATIVE, &jit, sizeof(jit));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, {0x666000, ADDRESS_NATIVE, false}, CALLER(jit),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->native_broken);
    assert_true(b.result->complete);
    close_bench(&b);
}

/* An MFA packed into an address is unpacked unchanged; words that are not an MFA are refused. */
static void test_packed_mfa_is_unpacked_unchanged(void **state)
{
    struct unwound_mfa mfa = unwound_mfa(packed(255));

    (void)state;
    assert_int_equal(mfa.module, ATOM_MODULE);
    assert_int_equal(mfa.function, ATOM_FUNCTION);
    assert_int_equal(mfa.arity, 255);
    assert_int_equal(packed(256), 0);
    mfa.module = 0x2000; /* no atom */
    assert_int_equal(unwound_mfa_pack(&mfa), 0);
}

/* On a dirty scheduler there is no JIT code rootwards: the process' function and its stack
 * follow. */
static void test_dirty_scheduler_shows_the_process_function_and_stack(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    put_word(b.scheduler, b.vm.layout.sched_type, VM_SCHEDULER_DIRTY_CPU);
    set_current(&b, ATOM_MODULE, ATOM_FUNCTION, 3);
    stop_in_c(&b, 0);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, {packed(3), ADDRESS_MFA, true},
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* A process that is collected on a dirty scheduler continues in Erlang code. */
static void test_dirty_collection_continues_in_erlang_code(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    put_word(b.scheduler, b.vm.layout.sched_type, VM_SCHEDULER_DIRTY_CPU);
    put_word(b.process, b.vm.layout.process_i, code_at(&b, FUNCTION_F, 0x18));
    set_current(&b, ATOM_MODULE, ATOM_FUNCTION, 3);
    stop_in_c(&b, 0);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, LEAF(code_at(&b, FUNCTION_F, 0x18)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* Kernel frames come first; all but the first are return addresses. */
static void test_kernel_frames_come_first(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    b.sample.head.kernel_depth = 2;
    b.sample.kernel[0] = 0xffffffff81000001;
    b.sample.kernel[1] = 0xffffffff81000002;
    set_register(&b, CPU_RIP, code_at(&b, FUNCTION_F, 0x10));
    set_register(&b, CPU_RSP, STACK);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, {0xffffffff81000001, ADDRESS_KERNEL, false},
                 {0xffffffff81000002, ADDRESS_KERNEL, true}, LEAF(code_at(&b, FUNCTION_F, 0x10)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    close_bench(&b);
}

static void test_nothing_is_unwound_without_registers(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    b.sample.head.flags = 0;
    set_register(&b, CPU_RIP, code_at(&b, FUNCTION_F, 0x10));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    assert_int_equal(b.result->count, 0);
    assert_true(b.result->native_broken);
    assert_false(b.result->complete);
    close_bench(&b);
}

/* If an NMI hits at the entry to the kernel, all other data of the sample is older. */
static void test_nmi_at_the_kernel_entry_gives_only_a_mark(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    b.sample.head.flags = WIRE_ENTRY | WIRE_IN_KERNEL;
    b.sample.head.kernel_depth = 1;
    b.sample.kernel[0] = 0xffffffff81000001;
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, {0, ADDRESS_ENTRY, false});
    assert_true(b.result->at_entry);
    assert_false(b.result->complete || b.result->native_broken || b.result->no_leaf);
    close_bench(&b);
}

/* If the CPU had pushed the user's frame, its instruction and stack pointer are enough in JIT
 * code. */
static void test_pushed_user_frame_is_enough_in_jit_code(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    b.sample.head.flags = WIRE_REGISTERS | WIRE_WAITS | WIRE_IN_KERNEL;
    set_register(&b, CPU_RIP, code_at(&b, FUNCTION_F, 0x10));
    set_register(&b, CPU_RSP, STACK - 16);
    SET_STACK(&b, STACK - 16, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* A circular native stack ends, and so does the walk. */
static void test_circular_native_stack_ends(void **state)
{
    uint64_t words[4096];
    struct bench b;

    (void)state;
    open_bench(&b);
    for (size_t i = 0; i < 4096; i++)
        words[i] = native_pc() + 1; /* returns to its own call */
    set_register(&b, CPU_RIP, native_pc());
    set_register(&b, CPU_RSP, 0x60000000);
    fake_region(&b.sample, REGION_NATIVE, 0x60000000, words, sizeof(words));
    run(&b);
    assert_true(b.result->count < 1000);
    assert_true(b.result->native_broken);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rsp_is_the_leaf_end_in_jit_code),
        cmocka_unit_test(test_stop_is_the_leaf_end_of_jit_code_on_the_native_stack),
        cmocka_unit_test(test_rbp_is_the_leaf_end_if_jit_code_did_not_save_it),
        cmocka_unit_test(test_stop_is_the_leaf_end_of_c_code_after_a_save),
        cmocka_unit_test(test_rbp_is_the_leaf_end_of_c_code_without_a_save),
        cmocka_unit_test(test_otp_24_has_the_leaf_end_in_r12),
        cmocka_unit_test(test_register_that_is_no_stack_pointer_is_ignored),
        cmocka_unit_test(test_broken_native_stack_still_leads_to_jit_code),
        cmocka_unit_test(test_dirty_scheduler_shows_the_process_function_and_stack),
        cmocka_unit_test(test_dirty_collection_continues_in_erlang_code),
        cmocka_unit_test(test_packed_mfa_is_unpacked_unchanged),
        cmocka_unit_test(test_kernel_frames_come_first),
        cmocka_unit_test(test_nothing_is_unwound_without_registers),
        cmocka_unit_test(test_nmi_at_the_kernel_entry_gives_only_a_mark),
        cmocka_unit_test(test_pushed_user_frame_is_enough_in_jit_code),
        cmocka_unit_test(test_circular_native_stack_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
