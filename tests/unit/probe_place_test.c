// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdint.h>

#include "capture/probe_link.h"
#include "native/parser.h"

/* The code of a function, which is not executed. */
#define CODE(name, text)                                                                           \
    __asm__(".pushsection .rodata\n" #name ":\n" text "\n" #name "_end:\n.popsection\n");          \
    extern const uint8_t name[], name##_end[];

static const struct probe_needs all = {.arguments = 6, .stack = true};
static const struct probe_needs one = {.arguments = 1};

static size_t place_in(const uint8_t *code, size_t size, const struct probe_needs *needs)
{
    struct parser *parser = parser_here();
    size_t place = probe_place(parser, code, size, needs);

    parser_release(parser);
    return place;
}

#define assert_place_for(name, needs, place)                                                       \
    assert_int_equal(place_in(name, (size_t)(name##_end - name), needs), place)
#define assert_place(name, place) assert_place_for(name, &all, place)

/* In the form that compilers produce. */
CODE(pushes, "push %r15\n push %r14\n mov %rdi, %rbx\n ret")
CODE(guarded, "endbr64\n push %r15\n mov %rdi, %rbx\n ret")
CODE(guarded_move, "endbr64\n sub $200, %rsp\n push %rbx\n ret")
CODE(compares, "cmp %rsi, %rdi\n je 1f\n mov (%rdi), %rax\n 1: ret")
CODE(loads, "movzbl 0x85(%rdi), %eax\n mov 0x88(%rdi), %r10\n shl $3, %rax\n cmp $8, %eax\n"
            "jae 1f\n ret\n 1: ret")
CODE(calls, "xor %eax, %eax\n call 1f\n 1: ret")
CODE(nops, "nopw 0(%rax,%rax)\n mov %rsp, %rax\n push %rbp\n pop %rbp\n ret")

/* Instructions that change the caller's data: an argument, a part of one, the stack, memory. */
CODE(moves, "mov %rdi, %rax\n mov %rsi, %rdi\n jmp 1f\n 1: ret")
CODE(moves_part, "movzbl 8(%rdi), %ecx\n je 1f\n 1: ret")
CODE(moves_byte, "mov $1, %sil\n je 1f\n 1: ret")
CODE(grows, "sub $24, %rsp\n test %rdi, %rdi\n je 1f\n 1: ret")
CODE(stores, "mov %r8, 0x10(%rcx)\n test %rdi, %rdi\n je 1f\n 1: ret")
CODE(keeps, "sub $200, %rsp\n mov %rbx, 0x98(%rsp)\n mov %rdi, %rbx\n mov %edx, 8(%rsp)\n"
            "test %r13, %r13\n je 1f\n 1: ret")
CODE(shifts, "shl %cl, %r9\n je 1f\n 1: ret")

/* Instructions that a call may skip or repeat. */
CODE(returns, "cmp %rsi, %rdi\n ret\n push %rbx\n ret")
CODE(jumps_away, "cmp %rsi, %rdi\n jmp *%rax\n push %rbx\n ret")
CODE(loops, "endbr64\n 1: push %rbx\n pop %rbx\n dec %rdi\n jne 1b\n ret")
CODE(loops_to_entry, "1: cmp %rsi, %rdi\n je 2f\n dec %rdi\n jne 1b\n 2: ret")
CODE(loops_before,
     "mov (%rdi), %rax\n 1: test %rax, %rax\n je 2f\n mov (%rax), %rax\n jmp 1b\n 2: ret")
CODE(far_away, ".rept 30\n mov %rdi, %rax\n .endr\n push %rbx\n ret")
CODE(nothing, "mov %rdi, %rax\n")
CODE(no_code, "cmp %rsi, %rdi\n je 1f\n 1: .byte 0x06\n ret")

/* 5-byte nops. */
#define NOP5 ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
CODE(nop5_entry, NOP5 "mov %rdi, %rax\n push %rbp\n pop %rbp\n ret")
CODE(nop5_stepped, NOP5 NOP5 "mov %rdi, %rbx\n mov %rsi, %rdi\n ret")
CODE(nop5_inside, "mov %rdi, %rax\n" NOP5 "mov %rdi, %rcx\n ret")
CODE(nop5_inside_push, "mov %rdi, %rbx\n" NOP5 "push %rbp\n ret")
CODE(nop5_loop, NOP5 "1: dec %rdi\n jnz 1b\n ret")
CODE(nop5_only, NOP5)

static const struct probe_needs no_nop5 = {.arguments = 6, .stack = true, .no_nop5 = true};

/* A probe does not move to a 5-byte nop, and stays at one only if that is allowed. */
static void test_probe_stays_at_a_nop5_only_if_allowed(void **state)
{
    (void)state;
    assert_place(nop5_entry, 0);
    assert_place(nop5_inside, 0);
    assert_place(nop5_inside_push, 8);
    assert_place(nop5_stepped, 0);
    assert_place_for(nop5_entry, &no_nop5, 8);
    assert_place_for(nop5_stepped, &no_nop5, 10);
    assert_place_for(nop5_inside, &no_nop5, 0);
    assert_place_for(nop5_inside_push, &no_nop5, 8);
    assert_place_for(nop5_loop, &no_nop5, 0);
    assert_place_for(nop5_only, &no_nop5, 0);
    assert_place_for(pushes, &no_nop5, 0);
}

static void test_probe_moves_to_a_cheaper_instruction(void **state)
{
    (void)state;
    assert_place(pushes, 0);
    assert_place(guarded, 4);
    assert_place(compares, 3);
    assert_place(loads, 21);
    assert_place(calls, 2);
    assert_place(nops, 8);
    assert_place(loops_to_entry, 3);
}

static void test_probe_does_not_move_past_a_change_of_data(void **state)
{
    (void)state;
    assert_place(guarded_move, 0);
    assert_place(moves, 0);
    assert_place(moves_part, 0);
    assert_place(moves_byte, 0);
    assert_place(grows, 0);
    assert_place(stores, 0);
    assert_place(shifts, 0);
}

/* Data that the program does not need may be changed, and so may the function's own stack. */
static void test_probe_moves_past_data_that_it_does_not_need(void **state)
{
    const struct probe_needs two = {.arguments = 2}, returning = {.arguments = 2, .stack = true};
    const struct probe_needs none = {0};

    (void)state;
    assert_place_for(guarded_move, &one, 11);
    assert_place_for(moves, &one, 0);
    assert_place_for(moves, &none, 6);
    assert_place_for(moves_part, &two, 4);
    assert_place_for(moves_byte, &one, 3);
    assert_place_for(moves_byte, &two, 0);
    assert_place_for(grows, &two, 7);
    assert_place_for(grows, &returning, 0);
    assert_place_for(keeps, &two, 25);
    assert_place_for(keeps, &returning, 0);
    assert_place_for(stores, &one, 0);
    assert_place_for(shifts, &(struct probe_needs){.arguments = 5}, 3);
    assert_place_for(loops_before, &one, 0);
}

static void test_probe_does_not_move_past_a_return_jump_or_loop(void **state)
{
    (void)state;
    assert_place(returns, 0);
    assert_place(jumps_away, 0);
    assert_place(loops, 0);
    assert_place(loops_before, 0);
    assert_place(far_away, 0);
    assert_place(nothing, 0);
    assert_place(no_code, 0);
    assert_int_equal(place_in(pushes, 0, &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe_stays_at_a_nop5_only_if_allowed),
        cmocka_unit_test(test_probe_moves_to_a_cheaper_instruction),
        cmocka_unit_test(test_probe_does_not_move_past_a_change_of_data),
        cmocka_unit_test(test_probe_moves_past_data_that_it_does_not_need),
        cmocka_unit_test(test_probe_does_not_move_past_a_return_jump_or_loop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
