// SPDX-License-Identifier: Apache-2.0
/* The states of symbol/unwind.h where Erlang stacks are apart from the machine stack. */
#include "unwind_bench.h"

#include "vm_constants.h"

enum {
    BASE = NATIVE + 0x100, /* ErtsSchedulerData.registers */
    TERM = 15,
    OLD = 0x30, /* offset in a function: what an old call left */
};

static void open_apart(struct bench *b)
{
    open_bench(b);
    b->vm.features.native_stack = false;
    put_word(b->scheduler, b->vm.layout.sched_registers, BASE);
}

/* Give the function a frame of this many words: "sub rbp, imm". */
static void set_apart_frame(struct bench *b, enum place place, uint8_t words)
{
    const uint8_t code[] = {0x48, 0x83, 0xed, (uint8_t)(words * 8)};

    fake_put(b->target, code_at(b, place, 0), code, sizeof(code));
}

/* Let the code behind this call take the machine stack pointer back, but not the top from
 * Process.stop. */
static void set_stale(struct bench *b, uint64_t return_address)
{
    static const uint8_t code[] = {0x48, 0x8b, 0x63, 0x80}; /* mov rsp, [rbx - 128] */

    fake_put(b->target, return_address, code, sizeof(code));
}

/* Erlang code or a fragment runs, `depth` words below the JIT's frame. The words are those of the
 * machine stack from there on, and `noted` is the stack pointer noted at the last call of C. */
static void stop_in_jit_apart(struct bench *b, uint64_t pc, int depth, uint64_t first,
                              uint64_t noted)
{
    const uint64_t words[] = {first, noted, 0, EXPORT};

    set_register(b, CPU_RIP, pc);
    set_register(b, CPU_RSP, BASE - (uint64_t)depth * 8);
    set_register(b, JIT_E_SAVED, STACK);
    fake_region(&b->sample, REGION_NATIVE, BASE - 8, words, sizeof(words));
}

/* C code runs that a fragment has called, and a function has called the fragment. */
static void stop_in_c_of_fragment(struct bench *b, uint64_t fragment, uint64_t function)
{
    const uint64_t words[] = {fragment, 0, 0, 0, function, BASE - 8, 0, EXPORT};

    set_register(b, CPU_RIP, native_pc());
    set_register(b, CPU_RSP, BASE - 40);
    set_register(b, JIT_E_SAVED, STACK);
    fake_region(&b->sample, REGION_NATIVE, BASE - 40, words, sizeof(words));
}

/* C code runs that a function has called, or a fragment to which it has jumped. `left` is what an
 * older call of a fragment left on the machine stack. */
static void stop_in_c_apart(struct bench *b, uint64_t return_address, uint64_t left)
{
    const uint64_t words[] = {return_address, 0, left, BASE, 0, EXPORT};

    set_register(b, CPU_RIP, native_pc());
    set_register(b, CPU_RSP, BASE - 24);
    set_register(b, JIT_E_SAVED, STACK);
    fake_region(&b->sample, REGION_NATIVE, BASE - 24, words, sizeof(words));
}

/* The frame's first word is for the return address of its own calls; the return address to the
 * caller follows the frame. Old return addresses in the frame are none. */
static void test_top_is_in_its_register_while_erlang_code_runs(void **state)
{
    struct bench b;

    (void)state;
    open_apart(&b);
    put_word(b.process, b.vm.layout.process_stop, STACK + 0x80);
    set_apart_frame(&b, FUNCTION_F, 3);
    stop_in_jit_apart(&b, code_at(&b, FUNCTION_F, 0x10), 0, 0, BASE);
    SET_STACK(&b, STACK, TAG_IMMED2_NIL, code_at(&b, FUNCTION_G, OLD), TERM,
              code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    assert_int_equal(b.result->registers.stop, STACK);
    close_bench(&b);
}

/* A function that returns takes the return address off the stack, some instructions before it jumps
 * there. An address in no function is none. */
static void test_return_address_is_in_a_register_before_a_return(void **state)
{
    (void)state;
    for (int valid = 0; valid < 2; valid++) {
        struct bench b;

        open_apart(&b);
        set_apart_frame(&b, FUNCTION_G, 2);
        stop_in_jit_apart(&b, code_at(&b, FUNCTION_F, 0x10), 0, 0, BASE);
        set_register(&b, JIT_RETURN, valid ? code_at(&b, FUNCTION_G, 0x20) : TERM);
        SET_STACK(&b, STACK, TAG_IMMED2_NIL, TERM, code_at(&b, FUNCTION_F, 0x40));
        run(&b);
        if (valid)
            CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)),
                         CALLER(code_at(&b, FUNCTION_G, 0x20)),
                         CALLER(code_at(&b, FUNCTION_F, 0x40)));
        else
            CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), {0, ADDRESS_MISSING, false},
                         CALLER(code_at(&b, FUNCTION_F, 0x40)));
        assert_int_equal(b.result->complete, valid);
        assert_int_equal(b.result->no_leaf, !valid);
        close_bench(&b);
    }
}

/* The function that called a fragment is on the machine stack, whether the fragment runs or C code
 * that it called. The register is the top if the code behind the call does not load it. */
static void test_caller_of_a_fragment_is_on_the_machine_stack(void **state)
{
    (void)state;
    for (int in_c = 0; in_c < 2; in_c++) {
        struct bench b;
        uint64_t fragment, function;

        open_apart(&b);
        fragment = code_at(&b, PLUS, 8), function = code_at(&b, FUNCTION_G, 0x21);
        set_apart_frame(&b, FUNCTION_G, 2);
        set_stale(&b, fragment);
        put_word(b.process, b.vm.layout.process_stop, STACK + 8);
        if (in_c)
            stop_in_c_of_fragment(&b, fragment, function);
        else
            stop_in_jit_apart(&b, fragment, 1, function, BASE - 8);
        SET_STACK(&b, STACK, TAG_IMMED2_NIL, TERM, code_at(&b, FUNCTION_F, 0x40));
        run(&b);
        if (in_c)
            CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(fragment), CALLER(function),
                         CALLER(code_at(&b, FUNCTION_F, 0x40)));
        else
            CHECK_FRAMES(&b, LEAF(fragment), CALLER(function),
                         CALLER(code_at(&b, FUNCTION_F, 0x40)));
        assert_true(b.result->complete);
        close_bench(&b);
    }
}

/* C code may have moved the stack, if the JIT's code loads the top from Process.stop afterwards. */
static void test_stop_is_the_top_where_it_is_loaded_after_the_call(void **state)
{
    struct bench b;

    (void)state;
    open_apart(&b);
    set_apart_frame(&b, FUNCTION_G, 2);
    put_word(b.process, b.vm.layout.process_stop, STACK + 0x800);
    stop_in_c_of_fragment(&b, code_at(&b, COLLECT, 8), code_at(&b, FUNCTION_G, 0x20));
    SET_STACK(&b, STACK + 0x800, TAG_IMMED2_NIL, TERM, code_at(&b, FUNCTION_F, 0x40));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, COLLECT, 8)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)), CALLER(code_at(&b, FUNCTION_F, 0x40)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* A light BIF is called by a fragment; the fragment of other BIFs is jumped to, so its caller is on
 * the Erlang stack. */
static void test_bifs_have_their_callers(void **state)
{
    struct bench light, other;

    (void)state;
    open_apart(&light);
    set_apart_frame(&light, FUNCTION_G, 1);
    stop_in_c_of_fragment(&light, code_at(&light, LIGHT_BIF, 8), code_at(&light, FUNCTION_G, 0x20));
    SET_STACK(&light, STACK, TAG_IMMED2_NIL, code_at(&light, FUNCTION_F, 0x40));
    run(&light);
    CHECK_FRAMES(&light, NATIVE_LEAF, {EXPORT, ADDRESS_EXPORT, true},
                 CALLER(code_at(&light, FUNCTION_G, 0x20)),
                 CALLER(code_at(&light, FUNCTION_F, 0x40)));
    assert_true(light.result->complete);
    close_bench(&light);

    open_apart(&other);
    set_apart_frame(&other, FUNCTION_G, 1);
    set_current(&other, ATOM_MODULE, ATOM_FUNCTION, 3);
    stop_in_c_apart(&other, code_at(&other, BIF, 8), code_at(&other, FUNCTION_F, OLD));
    SET_STACK(&other, STACK, code_at(&other, FUNCTION_G, 0x20), code_at(&other, FUNCTION_F, 0x40));
    run(&other);
    CHECK_FRAMES(&other, NATIVE_LEAF, {packed(3), ADDRESS_MFA, true},
                 CALLER(code_at(&other, FUNCTION_G, 0x20)),
                 CALLER(code_at(&other, FUNCTION_F, 0x40)));
    assert_true(other.result->complete);
    close_bench(&other);
}

/* What an older call left on the machine stack is the function that raised an exception only if it
 * fits the Erlang stack. */
static void test_function_that_raised_an_exception_fits_its_stack(void **state)
{
    (void)state;
    for (int fits = 0; fits < 2; fits++) {
        struct bench b;

        open_apart(&b);
        set_apart_frame(&b, FUNCTION_G, 1);
        stop_in_c_apart(&b, code_at(&b, RAISE, 8),
                        fits ? code_at(&b, FUNCTION_F, 0x20) : code_at(&b, FUNCTION_G, 0x20));
        SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x40), code_at(&b, FUNCTION_F, 0x60));
        run(&b);
        if (fits)
            CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, RAISE, 8)),
                         CALLER(code_at(&b, FUNCTION_F, 0x20)),
                         CALLER(code_at(&b, FUNCTION_G, 0x40)),
                         CALLER(code_at(&b, FUNCTION_F, 0x60)));
        else /* a call or a light BIF of this function failed */
            CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, RAISE, 8)),
                         CALLER(code_at(&b, FUNCTION_G, 0x20)),
                         CALLER(code_at(&b, FUNCTION_F, 0x60)));
        assert_true(b.result->complete);
        close_bench(&b);
    }
}

/* The function that handles an exception has NIL in its frame, like one that raised it. */
static void test_function_that_raised_an_exception_needs_proof(void **state)
{
    struct bench b;

    (void)state;
    open_apart(&b);
    set_apart_frame(&b, FUNCTION_G, 1);
    stop_in_c_apart(&b, code_at(&b, RAISE, 8), code_at(&b, FUNCTION_G, 0x20));
    SET_STACK(&b, STACK, TAG_IMMED2_NIL, code_at(&b, FUNCTION_F, 0x60));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, RAISE, 8)), {0, ADDRESS_MISSING, false},
                 CALLER(code_at(&b, FUNCTION_F, 0x60)));
    assert_false(b.result->complete);
    close_bench(&b);
}

static void test_process_that_returned_from_its_first_function_is_complete(void **state)
{
    const uint64_t nil = TAG_IMMED2_NIL;
    struct bench b;

    (void)state;
    open_apart(&b);
    stop_in_jit_apart(&b, code_at(&b, EXIT, 0x10), 0, 0, BASE);
    set_register(&b, JIT_E_SAVED, HEND - 8);
    fake_region(&b.sample, REGION_ERLANG, HEND - 8, &nil, sizeof(nil));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, EXIT, 0x10)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* The return address into the JIT's code is found where JIT code noted it, if C code can't be
 * unwound. */
static void test_broken_native_stack_still_leads_to_jit_code(void **state)
{
    struct bench b;

    (void)state;
    open_apart(&b);
    set_apart_frame(&b, FUNCTION_G, 2);
    stop_in_c_of_fragment(&b, code_at(&b, COLLECT, 8), code_at(&b, FUNCTION_G, 0x20));
    set_register(&b, CPU_RIP, 0x1234567);
    SET_STACK(&b, STACK, TAG_IMMED2_NIL, TERM, code_at(&b, FUNCTION_F, 0x40));
    run(&b);
    CHECK_FRAMES(&b, {0x1234567, ADDRESS_NATIVE, false}, CALLER(code_at(&b, COLLECT, 8)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)), CALLER(code_at(&b, FUNCTION_F, 0x40)));
    assert_true(b.result->native_broken);
    close_bench(&b);
}

/* A C function that never returns, and has no call-frame information, looks like the first of its
 * thread. */
static void test_stack_of_c_that_ends_above_the_jit_still_leads_to_its_code(void **state)
{
    struct bench b;
    uint64_t words[] = {0, 0, 0, 0, 0, 0, BASE - 8, 0, EXPORT};

    (void)state;
    open_apart(&b);
    set_apart_frame(&b, FUNCTION_G, 2);
    words[1] = code_at(&b, COLLECT, 8);
    words[5] = code_at(&b, FUNCTION_G, 0x20);
    set_register(&b, CPU_RIP, native_pc());
    set_register(&b, CPU_RSP, BASE - 48);
    fake_region(&b.sample, REGION_NATIVE, BASE - 48, words, sizeof(words));
    SET_STACK(&b, STACK, TAG_IMMED2_NIL, TERM, code_at(&b, FUNCTION_F, 0x40));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, COLLECT, 8)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)), CALLER(code_at(&b, FUNCTION_F, 0x40)));
    assert_true(b.result->native_broken);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_top_is_in_its_register_while_erlang_code_runs),
        cmocka_unit_test(test_return_address_is_in_a_register_before_a_return),
        cmocka_unit_test(test_caller_of_a_fragment_is_on_the_machine_stack),
        cmocka_unit_test(test_stop_is_the_top_where_it_is_loaded_after_the_call),
        cmocka_unit_test(test_bifs_have_their_callers),
        cmocka_unit_test(test_function_that_raised_an_exception_fits_its_stack),
        cmocka_unit_test(test_function_that_raised_an_exception_needs_proof),
        cmocka_unit_test(test_process_that_returned_from_its_first_function_is_complete),
        cmocka_unit_test(test_broken_native_stack_still_leads_to_jit_code),
        cmocka_unit_test(test_stack_of_c_that_ends_above_the_jit_still_leads_to_its_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
