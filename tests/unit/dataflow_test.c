// SPDX-License-Identifier: Apache-2.0
/* Paths through machine code, which the assembler puts into this program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "native/dataflow.h"
#include "native/parser.h"

/* clang-format off */
/* The code NAME, from `name` to `name_end`. */
#define CODE(name, ...) \
    extern const uint8_t name[], name##_end[]; \
    __asm__(".pushsection .text\n" #name ":\n" ".intel_syntax noprefix\n" \
            #__VA_ARGS__ "\n.att_syntax prefix\n" #name "_end:\n.popsection\n")

/* The targets of calls are outside of all code. */
CODE(far_a, nop);
CODE(far_b, nop);

CODE(moves,
     push rbx; mov rbx, rdi; mov r14d, esi; sub rsp, 0x20; mov rdi, [rbx + 0x10];
     mov edx, r14d; lea rcx, [rsp + 8]; mov r8, -8; xor r9d, r9d; mov esi, 0x2000;
     call far_a; ret);

CODE(spills,
     push r12; sub rsp, 0x18; mov [rsp + 8], rdi; mov [rsp + 0x10], rsi; xor edi, edi;
     call far_a; mov rdi, [rsp + 8]; mov rsi, rax; mov rdx, [rsp + 0x10];
     add rsp, 0x18; pop r12; jmp far_b);

CODE(escapes,
     sub rsp, 0x18; mov qword ptr [rsp + 8], 5; mov [rsp], rdi; lea rdi, [rsp + 8]; call far_a;
     mov rdi, [rsp]; mov rsi, [rsp + 8]; call far_b; ret);

CODE(branches,
     test rsi, rsi; je 1f; mov rdi, rsi; jmp 2f; 1: add rdi, 8; 2: call far_a; ret);

CODE(loops,
     xor eax, eax; 1: mov edx, eax; lock cmpxchg [rdi], ecx; jne 1b; call far_a; jmp 1b);

CODE(stores,
     mov [rcx + 0x10], r8; mov rax, [rdi]; mov [rcx + 0x20], rax; sub dword ptr [rdi + 0x78], eax;
     mov qword ptr [rdx], 0x3b; ret);

CODE(follows_nothing,
     imul rdi, rdi, 3; lea rsi, [rsi + rdx * 8]; movzx edx, byte ptr [rcx]; cmovne rcx, r8; mov r8b, 1;
     mov r9, fs:[0x28]; call far_a; ret);

CODE(pairs,
     mov rdi, [rdi + 8]; add rdi, 0x208; mov rsi, [rsi]; mov rsi, [rsi + 0x10]; call far_a; ret);

CODE(literal, call [rip + 1f]; ret; 1: .quad 0x123456789abc);

CODE(ends_in_the_middle, mov rdi, rsi; .byte 0xe8, 1);
/* clang-format on */

enum { CALLS_MAX = 16 };

struct seen_call {
    uint64_t target;
    bool is_jump;
    struct flow_value arguments[6];
};

static struct seen_call calls[CALLS_MAX];
static unsigned int call_count;
/* Callbacks during the flow: the state at a call or a store. */
static void (*at_call)(const struct flow *flow, const struct flow_call *call);
static void (*at_store)(const struct flow *flow, struct flow_value address,
                        struct flow_value value);

static bool read_own(void *context, uint64_t address, void *buffer, size_t size)
{
    (void)context;
    memcpy(buffer, (const void *)(uintptr_t)address, size);
    return true;
}

static bool read_nothing(void *context, uint64_t address, void *buffer, size_t size)
{
    (void)context;
    (void)address;
    (void)buffer;
    (void)size;
    return false;
}

static void see_call(void *context, const struct flow *flow, const struct flow_call *call)
{
    struct seen_call *seen = &calls[call_count < CALLS_MAX ? call_count++ : 0];

    (void)context;
    *seen = (struct seen_call){call->target, call->is_jump, {{0}}};
    for (unsigned int i = 0; i < 6; i++)
        seen->arguments[i] = flow_argument(call, i);
    if (at_call)
        at_call(flow, call);
}

static void see_store(void *context, const struct flow *flow, struct flow_value address,
                      struct flow_value value)
{
    (void)context;
    if (at_store)
        at_store(flow, address, value);
}

static bool follow_with(const uint8_t *start, const uint8_t *end, bool literals)
{
    const struct flow_code code = {.parser = parser_here(),
                                   .read = read_own,
                                   .start = (uint64_t)(uintptr_t)start,
                                   .end = (uint64_t)(uintptr_t)end,
                                   .follow_literals = literals};
    const struct flow_visitor visitor = {.call = see_call, .store = see_store};
    bool followed;

    call_count = 0;
    followed = flow_follow(&code, &visitor);
    parser_release(code.parser);
    return followed;
}

#define FOLLOW(name)                                                                               \
    do {                                                                                           \
        assert_true(follow_with(name, name##_end, false));                                         \
        at_call = NULL;                                                                            \
        at_store = NULL;                                                                           \
    } while (0)

static uint64_t at(const uint8_t *code)
{
    return (uint64_t)(uintptr_t)code;
}

/* ---- */

static void check_moves(const struct flow *flow, const struct flow_call *call)
{
    assert_true(flow_is_field(flow, flow_argument(call, 0), CPU_RDI, 0x10));
    assert_false(flow_is_field(flow, flow_argument(call, 0), CPU_RDI, 0x18));
    assert_false(flow_is_field(flow, flow_argument(call, 0), CPU_RSI, 0x10));
    assert_false(flow_is_result(flow, flow_argument(call, 0), NULL));
}

static void test_values_are_followed_through_moves(void **state)
{
    (void)state;
    at_call = check_moves;
    FOLLOW(moves);
    assert_int_equal(call_count, 1);
    assert_int_equal(calls[0].target, at(far_a));
    assert_false(calls[0].is_jump);
    assert_true(flow_is_number(calls[0].arguments[1], 0x2000));
    assert_true(flow_is_register(calls[0].arguments[2], CPU_RSI, 0));
    assert_true(flow_is_stack(calls[0].arguments[3]));
    assert_true(flow_is_number(calls[0].arguments[4], -8));
    assert_true(flow_is_number(calls[0].arguments[5], 0));
    assert_false(flow_is_register(calls[0].arguments[5], CPU_R9, 0));
}

static void check_spills(const struct flow *flow, const struct flow_call *call)
{
    uint64_t function = 0;

    if (!call->is_jump)
        return;
    assert_true(flow_is_result(flow, flow_argument(call, 1), &function));
    assert_int_equal(function, at(far_a));
}

static void test_spilled_values_and_results_are_followed(void **state)
{
    (void)state;
    at_call = check_spills;
    FOLLOW(spills);
    assert_int_equal(call_count, 2);
    assert_int_equal(calls[1].target, at(far_b));
    assert_true(calls[1].is_jump);
    assert_true(flow_is_register(calls[1].arguments[0], CPU_RDI, 0));
    assert_true(flow_is_register(calls[1].arguments[2], CPU_RSI, 0));
    assert_false(flow_is_register(calls[1].arguments[3], CPU_RCX, 0)); /* lost in the call */
}

/* Memory whose address a called function has may have been written; memory below it has not. */
static void test_memory_whose_address_escapes_is_unknown(void **state)
{
    (void)state;
    FOLLOW(escapes);
    assert_int_equal(call_count, 2);
    assert_true(flow_is_register(calls[1].arguments[0], CPU_RDI, 0));
    assert_false(flow_is_number(calls[1].arguments[1], 5));
}

static void test_both_branches_are_followed(void **state)
{
    (void)state;
    FOLLOW(branches);
    assert_int_equal(call_count, 2);
    assert_true(flow_is_register(calls[0].arguments[0], CPU_RSI, 0));
    assert_true(flow_is_register(calls[1].arguments[0], CPU_RDI, 8));
}

static void test_following_a_loop_ends(void **state)
{
    (void)state;
    FOLLOW(loops);
    assert_true(call_count >= 1);
    assert_true(flow_is_register(calls[0].arguments[0], CPU_RDI, 0));
    assert_false(flow_is_number(calls[0].arguments[2], 1));
}

static unsigned int term_stored, sender_stored, count_stored, nil_stored;

static void check_stores(const struct flow *flow, struct flow_value address,
                         struct flow_value value)
{
    term_stored += flow_is_register(address, CPU_RCX, 0x10) && flow_is_register(value, CPU_R8, 0);
    sender_stored +=
        flow_is_register(address, CPU_RCX, 0x20) && flow_is_field(flow, value, CPU_RDI, 0);
    count_stored += flow_is_register(address, CPU_RDI, 0x78) && !flow_is_number(value, 0);
    nil_stored += flow_is_register(address, CPU_RDX, 0) && flow_is_number(value, 0x3b);
}

static void test_stores_have_their_address_and_value(void **state)
{
    (void)state;
    term_stored = sender_stored = count_stored = nil_stored = 0;
    at_store = check_stores;
    FOLLOW(stores);
    assert_int_equal(term_stored, 1);
    assert_int_equal(sender_stored, 1);
    assert_int_equal(count_stored, 1);
    assert_int_equal(nil_stored, 1);
}

static void check_unknown(const struct flow *flow, const struct flow_call *call)
{
    static const enum cpu_register REGISTERS[] = {CPU_RDI, CPU_RSI, CPU_RDX,
                                                  CPU_RCX, CPU_R8,  CPU_R9};
    struct flow_value address;

    for (unsigned int i = 0; i < 6; i++) {
        struct flow_value value = flow_argument(call, i);

        assert_false(flow_is_register(value, REGISTERS[i], value.offset));
        assert_false(flow_is_number(value, value.offset));
        assert_false(flow_is_memory(flow, value, &address));
        assert_false(flow_is_result(flow, value, NULL));
        assert_false(flow_is_stack(value));
    }
}

static void test_result_of_an_unsupported_instruction_is_unknown(void **state)
{
    (void)state;
    at_call = check_unknown;
    FOLLOW(follows_nothing);
    assert_int_equal(call_count, 1);
}

static void check_pairs(const struct flow *flow, const struct flow_call *call)
{
    struct flow_value address, outer;

    assert_int_equal(flow_argument(call, 0).offset, 0x208);
    assert_true(flow_is_memory(flow, flow_argument(call, 0), &address));
    assert_true(flow_is_register(address, CPU_RDI, 8));
    assert_true(flow_is_memory(flow, flow_argument(call, 1), &address));
    assert_int_equal(address.offset, 0x10);
    assert_true(flow_is_memory(flow, address, &outer));
    assert_true(flow_is_register(outer, CPU_RSI, 0));
}

static void test_field_of_a_field_is_followed(void **state)
{
    (void)state;
    at_call = check_pairs;
    FOLLOW(pairs);
    assert_int_equal(call_count, 1);
}

static void test_call_through_a_literal_is_followed_on_request(void **state)
{
    (void)state;
    assert_true(follow_with(literal, literal_end, true));
    assert_int_equal(calls[0].target, 0x123456789abc);
    assert_true(follow_with(literal, literal_end, false));
    assert_int_equal(calls[0].target, 0);
}

static void test_flow_ends_at_an_incomplete_instruction(void **state)
{
    (void)state;
    FOLLOW(ends_in_the_middle);
    assert_int_equal(call_count, 0);
}

static void test_unreadable_or_oversized_code_is_refused(void **state)
{
    const struct flow_code code = {.read = read_nothing, .start = 0x1000, .end = 0x1010};
    const struct flow_code huge = {.read = read_own, .start = 0x1000, .end = 0x10000000};
    const struct flow_code none = {.read = read_own, .start = 0x1000, .end = 0};

    (void)state;
    assert_false(flow_follow(&code, &(struct flow_visitor){0}));
    assert_false(flow_follow(&huge, &(struct flow_visitor){0}));
    assert_false(flow_follow(&none, &(struct flow_visitor){0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_followed_through_moves),
        cmocka_unit_test(test_spilled_values_and_results_are_followed),
        cmocka_unit_test(test_memory_whose_address_escapes_is_unknown),
        cmocka_unit_test(test_both_branches_are_followed),
        cmocka_unit_test(test_following_a_loop_ends),
        cmocka_unit_test(test_stores_have_their_address_and_value),
        cmocka_unit_test(test_result_of_an_unsupported_instruction_is_unknown),
        cmocka_unit_test(test_field_of_a_field_is_followed),
        cmocka_unit_test(test_call_through_a_literal_is_followed_on_request),
        cmocka_unit_test(test_flow_ends_at_an_incomplete_instruction),
        cmocka_unit_test(test_unreadable_or_oversized_code_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
