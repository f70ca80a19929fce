// SPDX-License-Identifier: Apache-2.0
/* The states of symbol/unwind.h: which words of the Erlang stack are callers. */
#include "unwind_bench.h"

/* Terms, catch tags, saved stack pointers and words in unwritten slots are not frames. */
static void test_terms_on_the_stack_are_no_frames(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_jit(&b);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x40), 0, 0x3b, fake_small(17), fake_atom_term(5),
              HEAP + 0x101, HEAP + 0x102, 8, 4092, STACK + 64, 0x1b, code_at(&b, FUNCTION_G, 0x20),
              UINT64_MAX);
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_F, 0x40)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* Words in the frame of the running function are not callers, whatever they look like. */
static void test_words_in_the_running_frame_are_no_callers(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_frame(&b, FUNCTION_F, 3);
    stop_in_jit(&b);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x40), 0x3b, code_at(&b, FUNCTION_F, 0x44),
              code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    assert_false(b.result->no_leaf);
    close_bench(&b);
}

/* Words in the frame of a function are not callers either while the function has called C code or a
 * fragment. */
static void test_words_in_the_frame_that_called_c_are_no_callers(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_frame(&b, FUNCTION_F, 2);
    stop_in_c(&b, code_at(&b, FUNCTION_F, 0x30));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x40), code_at(&b, FUNCTION_F, 0x44),
              code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, FUNCTION_F, 0x30)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    close_bench(&b);

    open_bench(&b);
    set_frame(&b, FUNCTION_F, 2);
    stop_in_c(&b, code_at(&b, COLLECT, 0x30));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x33), code_at(&b, FUNCTION_F, 0x40),
              code_at(&b, FUNCTION_F, 0x44), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, COLLECT, 0x30)),
                 CALLER(code_at(&b, FUNCTION_F, 0x33)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* With +JPperf fp a fragment pushes the frame pointer of its caller; the return address follows
 * it. */
static void test_return_address_follows_a_pushed_frame_pointer(void **state)
{
    struct bench b;

    (void)state;
    open_bench_with(&b, true);
    set_frame(&b, FUNCTION_F, 2);
    stop_in_c(&b, code_at(&b, COLLECT, 0x30));
    SET_STACK(&b, STACK, STACK + 0x20, code_at(&b, FUNCTION_F, 0x33), code_at(&b, FUNCTION_F, 0x40),
              STACK + 0x40, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, COLLECT, 0x30)),
                 CALLER(code_at(&b, FUNCTION_F, 0x33)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* Process.i is used if its frame fits the stack, and not before it is written. */
static void test_process_i_is_used_only_if_its_frame_fits(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    put_word(b.process, b.vm.layout.process_i, code_at(&b, FUNCTION_F, 0x18));
    set_frame(&b, FUNCTION_F, 1);
    stop_in_c(&b, code_at(&b, MAIN, 0x30));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20), 0x3b);
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, MAIN, 0x30)), {0, ADDRESS_MISSING, false},
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    close_bench(&b);

    open_bench(&b);
    put_word(b.process, b.vm.layout.process_i, code_at(&b, FUNCTION_F, 0x18));
    set_register(&b, CPU_RIP, code_at(&b, MAIN, 0x30));
    set_register(&b, CPU_RSP, NATIVE);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, MAIN, 0x30)), {0, ADDRESS_MISSING, false},
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->no_leaf);
    close_bench(&b);
}

/* Write a call of `callee` that ends at an offset of a function; return its return address. */
static uint64_t put_call(struct bench *b, enum place place, uint64_t offset, enum place callee)
{
    uint64_t address = code_at(b, place, offset);
    int32_t distance = (int32_t)(code_at(b, callee, 0) - address);

    fake_put(b->target, address - 5, "\xe8", 1);
    fake_put(b->target, address - 4, &distance, sizeof(distance));
    return address;
}

/* If the size of the frame is unknown, a word after a call of another function is not a caller; a
 * word after a call of this function is one; a word after an indirect call is shown with a mark. */
static void test_call_before_a_word_decides_in_an_unknown_frame(void **state)
{
    for (int i = 0; i < 2; i++) {
        uint64_t other, caller;
        struct bench b;

        (void)state;
        open_bench(&b);
        fake_put(b.target, code_at(&b, FUNCTION_F, 0), "\x48\x29\xc4", 3); /* sub rsp, rax */
        fake_put(b.target, code_at(&b, FUNCTION_F, 0xff), "\x90", 1);
        stop_in_jit(&b);
        other = put_call(&b, FUNCTION_G, 0x40, FUNCTION_G);
        fake_put(b.target, code_at(&b, FUNCTION_G, 0x40), "\x90", 1);
        caller = code_at(&b, FUNCTION_G, 0x80);
        if (i == 0)
            put_call(&b, FUNCTION_G, 0x80, FUNCTION_F);
        else
            fake_put(b.target, caller - 6, "\x90\x90\x90\x90\xff\xd7", 6); /* call rdi */
        SET_STACK(&b, STACK, other, 0x3b, caller, code_at(&b, FUNCTION_G, 0x20));
        run(&b);
        if (i == 0)
            CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(caller),
                         CALLER(code_at(&b, FUNCTION_G, 0x20)));
        else
            CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), {0, ADDRESS_MISSING, false},
                         CALLER(caller), CALLER(code_at(&b, FUNCTION_G, 0x20)));
        assert_int_equal(b.result->no_leaf, i == 1);
        assert_int_equal(b.result->complete, i == 0);
        close_bench(&b);
    }
}

/* If the size of the frame is unknown, a word after a call that collects garbage is not a caller,
 * because a collection calls no Erlang code. A word after a call of another fragment is shown with
 * a mark. */
static void test_word_after_a_collection_is_no_caller(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t other, caller;
        struct bench b;

        open_bench(&b);
        fake_put(b.target, code_at(&b, FUNCTION_F, 0), "\x48\x29\xc4", 3); /* sub rsp, rax */
        stop_in_jit(&b);
        other = put_call(&b, FUNCTION_G, 0x40, i == 0 ? COLLECT : PLUS);
        caller = put_call(&b, FUNCTION_G, 0x80, FUNCTION_F);
        SET_STACK(&b, STACK, other, 0x3b, caller);
        run(&b);
        if (i == 0)
            CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(caller));
        else
            CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), {0, ADDRESS_MISSING, false},
                         CALLER(other), CALLER(caller));
        assert_int_equal(b.result->no_leaf, i == 1);
        close_bench(&b);
    }
}

/* If the leaf end is unknown, leftovers of ended frames are not shown: the sizes of frames must
 * lead from each frame to the next. */
static void test_leftovers_of_ended_frames_are_not_shown(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_frame(&b, FUNCTION_G, 2);
    fake_put(b.target, code_at(&b, FUNCTION_F, 0x30), "\x48\x89\xec\x90", 4);
    stop_in_c(&b, code_at(&b, FUNCTION_F, 0x30));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x40), 0x3b, 0x4b, 0x5b,
              code_at(&b, FUNCTION_G, 0x20), 0x3b, 0x3b);
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, FUNCTION_F, 0x30)),
                 {0, ADDRESS_MISSING, false}, CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->no_leaf);
    close_bench(&b);
}

/* A return address outside of all known code, or in a module's header, is shown as unknown. */
static void test_return_address_outside_of_code_is_unknown(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_jit(&b);
    SET_STACK(&b, STACK, 0x7fff12345670, code_at(&b, HEADER, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), {0x7fff12345670, ADDRESS_UNKNOWN, true},
                 {code_at(&b, HEADER, 0x20), ADDRESS_UNKNOWN, true});
    assert_true(b.result->complete);
    close_bench(&b);
}

/* Frames that tracing put on the stack are hidden, together with their words. */
static void test_frames_of_tracing_are_hidden(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_jit(&b);
    SET_STACK(&b, STACK, code_at(&b, TRACE, 0x20), code_at(&b, FUNCTION_F, 0x40),
              code_at(&b, FUNCTION_F, 0x44), code_at(&b, FUNCTION_G, 0x20),
              code_at(&b, TIME_TRACE, 0x20), code_at(&b, FUNCTION_F, 0x48),
              code_at(&b, FUNCTION_G, 0x24), code_at(&b, TO_TRACE, 0x20),
              code_at(&b, FUNCTION_G, 0x28));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_G, 0x20)),
                 CALLER(code_at(&b, FUNCTION_G, 0x24)), CALLER(code_at(&b, FUNCTION_G, 0x28)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* Words after normal_exit are ignored; a stack without it is incomplete. */
static void test_words_after_normal_exit_are_ignored(void **state)
{
    uint64_t word;
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_jit(&b);
    SET_STACK(&b, STACK, code_at(&b, EXIT, 8), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)));
    assert_true(b.result->complete);
    close_bench(&b);

    open_bench(&b);
    stop_in_jit(&b);
    word = code_at(&b, FUNCTION_G, 0x20);
    fake_region(&b.sample, REGION_ERLANG, STACK, &word, sizeof(word));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(word));
    assert_false(b.result->complete);
    assert_false(b.result->truncated);
    close_bench(&b);
}

/* If the middle of the stack was not copied, a mark has the number of missing words. */
static void test_missing_words_of_a_deep_stack_are_marked(void **state)
{
    uint64_t word;
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_jit(&b);
    word = code_at(&b, FUNCTION_F, 0x40);
    fake_region(&b.sample, REGION_ERLANG, STACK, &word, sizeof(word));
    SET_STACK(&b, STACK + 8 + 1000 * 8, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(word), {1000, ADDRESS_CUT, false},
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    assert_true(b.result->truncated);
    close_bench(&b);
}

/* With +JPperf fp, the saved frame pointer before each return address is not an unknown word, even
 * if a collection has moved heap and hend away. Without frame pointers it is. */
static void test_saved_frame_pointers_are_no_unknown_words(void **state)
{
    (void)state;
    for (int frame_pointers = 0; frame_pointers < 2; frame_pointers++) {
        struct bench b;

        open_bench_with(&b, frame_pointers);
        stop_in_jit(&b);
        set_frame(&b, FUNCTION_F, 1);
        set_register(&b, CPU_RSP, NATIVE); /* so that the leaf end is Process.stop */
        put_word(b.process, b.vm.layout.process_heap, 0x50000000);
        put_word(b.process, b.vm.layout.process_hend, 0x50100000);
        SET_STACK(&b, STACK, STACK + 0x10, code_at(&b, FUNCTION_G, 0x20), STACK + 0x20,
                  code_at(&b, FUNCTION_G, 0x24));
        run(&b);
        if (frame_pointers)
            CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)),
                         CALLER(code_at(&b, FUNCTION_G, 0x20)),
                         CALLER(code_at(&b, FUNCTION_G, 0x24)));
        else
            CHECK_FRAMES(
                &b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_G, 0x20)),
                {STACK + 0x20, ADDRESS_UNKNOWN, true}, CALLER(code_at(&b, FUNCTION_G, 0x24)));
        close_bench(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms_on_the_stack_are_no_frames),
        cmocka_unit_test(test_words_in_the_running_frame_are_no_callers),
        cmocka_unit_test(test_words_in_the_frame_that_called_c_are_no_callers),
        cmocka_unit_test(test_return_address_follows_a_pushed_frame_pointer),
        cmocka_unit_test(test_process_i_is_used_only_if_its_frame_fits),
        cmocka_unit_test(test_call_before_a_word_decides_in_an_unknown_frame),
        cmocka_unit_test(test_word_after_a_collection_is_no_caller),
        cmocka_unit_test(test_leftovers_of_ended_frames_are_not_shown),
        cmocka_unit_test(test_return_address_outside_of_code_is_unknown),
        cmocka_unit_test(test_frames_of_tracing_are_hidden),
        cmocka_unit_test(test_words_after_normal_exit_are_ignored),
        cmocka_unit_test(test_missing_words_of_a_deep_stack_are_marked),
        cmocka_unit_test(test_saved_frame_pointers_are_no_unknown_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
