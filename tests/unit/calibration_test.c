// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/calibration.h"

/* The instructions that the kernel emulates (arch/x86/kernel/uprobes.c). */
static void test_instruction_decides_the_kind_of_trap(void **state)
{
    static const struct {
        const char *code;
        enum trap trap;
    } codes[] = {
        {"\x55\x48\x89\xe5", TRAP_EMULATED},         /* push %rbp */
        {"\x41\x57\x41\x56", TRAP_EMULATED},         /* push %r15 */
        {"\xe8\x10\x20\x30\x40", TRAP_EMULATED},     /* call */
        {"\xe9\x10\x20\x30\x40", TRAP_EMULATED},     /* jmp */
        {"\xeb\x10", TRAP_EMULATED},                 /* jmp, short */
        {"\x74\x10", TRAP_EMULATED},                 /* je, short */
        {"\x0f\x84\x10\x20\x30\x40", TRAP_EMULATED}, /* je */
        {"\x90", TRAP_EMULATED},                     /* nop */
        {"\x0f\x1f\x44\0\0", TRAP_NOP5},
        {"\x0f\x1f\x40\0", TRAP_STEPPED}, /* 4-byte nop */
        {"\xf3\x0f\x1e\xfa\x55", TRAP_ENDBR},
        {"\x48\x83\xec\x18", TRAP_STEPPED},     /* sub $24, %rsp */
        {"\x48\x89\xf8", TRAP_STEPPED},         /* mov %rdi, %rax */
        {"\x41\xff\xe3", TRAP_STEPPED},         /* jmp *%r11 */
        {"\x0f\xb6\x07", TRAP_STEPPED},         /* movzbl (%rdi), %eax */
        {"\xff\x25\x10\x20\x30", TRAP_STEPPED}, /* jmp *0x302010(%rip) */
    };
    uint8_t bytes[6];

    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        memset(bytes, 0, sizeof(bytes));
        memcpy(bytes, codes[i].code, strlen(codes[i].code));
        assert_int_equal(uprobe_trap_of_code(bytes, sizeof(bytes)), codes[i].trap);
    }
    assert_int_equal(uprobe_trap_of_code((const uint8_t *)"\x0f\x1f\x44", 3), TRAP_STEPPED);
    assert_int_equal(uprobe_trap_of_code((const uint8_t *)"", 0), TRAP_STEPPED);
}

#define assert_near(value, expected) assert_true(fabs((value) - (expected)) < 1e-6)

/* The entry and the return of a function share a trap; the most expensive place decides. */
static void test_most_expensive_site_decides_the_cost_of_a_hit(void **state)
{
    const struct calibration calibration = {
        .trap_ns = {[TRAP_EMULATED] = 400, [TRAP_STEPPED] = 15000},
        .return_ns = 200,
    };
    struct probe_site entry = {.path = "", .trap = TRAP_EMULATED}, returns = entry;
    struct probe_site stepped = {.path = "", .file_offset = 16, .trap = TRAP_STEPPED};
    double cost;

    (void)state;
    returns.is_return = true;
    cost = calibration_hit_ns(&calibration, &entry, 1);
    assert_true(cost > 400 && cost < 500); /* more than in the calibration's loop */
    assert_near(calibration_hit_ns(&calibration, &returns, 1), cost / 400 * 600);
    assert_near(calibration_hit_ns(&calibration, (struct probe_site[]){entry, returns}, 2),
                cost / 400 * 300);
    assert_near(calibration_hit_ns(&calibration, (struct probe_site[]){entry, stepped, returns}, 3),
                cost / 400 * 15000);
    assert_true(calibration_hit_ns(&calibration, &entry, 0) == 0);
}

/* On this machine a trap costs more than a system call, and less than a context switch or two. */
static void test_measured_costs_are_plausible(void **state)
{
    struct calibration calibration;
    struct error error = {0};

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(calibrate(&calibration, &error), 0);
    for (enum trap trap = 0; trap < TRAPS; trap++)
        assert_true(calibration.trap_ns[trap] > 20 && calibration.trap_ns[trap] < 200000);
    assert_true(calibration.trap_ns[TRAP_STEPPED] > calibration.trap_ns[TRAP_EMULATED]);
    assert_true(calibration.return_ns >= 0 && calibration.return_ns < 50000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instruction_decides_the_kind_of_trap),
        cmocka_unit_test(test_most_expensive_site_decides_the_cost_of_a_hit),
        cmocka_unit_test(test_measured_costs_are_plausible),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
