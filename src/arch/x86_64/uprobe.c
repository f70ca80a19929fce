// SPDX-License-Identifier: Apache-2.0
#include "arch/uprobe.h"

#include <string.h>

const char *const trap_names[TRAPS] = {
    [TRAP_EMULATED] = "emulated",
    [TRAP_NOP5] = "nop5",
    [TRAP_ENDBR] = "endbr",
    [TRAP_STEPPED] = "stepped",
};

/* arch/x86/kernel/uprobes.c: branch_setup_xol_ops, push_setup_xol_ops, arch_uprobe_optimize. */
enum trap uprobe_trap_of_code(const uint8_t *code, size_t size)
{
    static const uint8_t nop5[NOP5_BYTES] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};

    if (size >= sizeof(nop5) && memcmp(code, nop5, sizeof(nop5)) == 0)
        return TRAP_NOP5;
    if (size >= sizeof(endbr) && memcmp(code, endbr, sizeof(endbr)) == 0)
        return TRAP_ENDBR;
    if (size >= 2 && code[0] == 0x41) /* REX.B of push */
        return (code[1] & 0xf8) == 0x50 ? TRAP_EMULATED : TRAP_STEPPED;
    if (size >= 2 && code[0] == 0x0f) /* jcc rel32 */
        return (code[1] & 0xf0) == 0x80 ? TRAP_EMULATED : TRAP_STEPPED;
    if (size >= 1 && ((code[0] & 0xf8) == 0x50 || (code[0] & 0xf0) == 0x70 || code[0] == 0x90 ||
                      code[0] == 0xe8 || code[0] == 0xe9 || code[0] == 0xeb))
        return TRAP_EMULATED;
    return TRAP_STEPPED;
}

bool uprobe_trap_is_breakpoint(const uint8_t *changed, size_t size)
{
    return size == 1 && changed[0] == 0xcc; /* int3 */
}

/* ---- functions to probe ---- */

#define FUNCTION(name, code)                                                                       \
    __asm__(".pushsection .text\n.balign 16\n.type " #name ", @function\n" #name ":\n" code        \
            "\nret\n.size " #name ", . - " #name "\n.popsection\n");                               \
    void name(void) __attribute__((visibility("hidden")));

FUNCTION(trap_push, "push %rbp\npop %rbp")
FUNCTION(trap_nop5, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00")
FUNCTION(trap_endbr, ".byte 0xf3, 0x0f, 0x1e, 0xfa")
FUNCTION(trap_mov, "mov %rdi, %rax")

void (*const trap_functions[TRAPS])(void) = {
    [TRAP_EMULATED] = trap_push,
    [TRAP_NOP5] = trap_nop5,
    [TRAP_ENDBR] = trap_endbr,
    [TRAP_STEPPED] = trap_mov,
};

__asm__(".pushsection .text\n.balign 64\n.type trap_nop5_in_leaf, @function\n"
        ".globl trap_nop5_in_leaf, trap_nop5_of_leaf\n"
        ".hidden trap_nop5_in_leaf, trap_nop5_of_leaf\n"
        "trap_nop5_in_leaf:\n"
        ".set nop5_word, 8\n"
        ".rept 16\n"
        "mov %rdi, -nop5_word(%rsp)\n"
        ".set nop5_word, nop5_word + 8\n"
        ".endr\n"
        "xor %eax, %eax\n"
        "trap_nop5_of_leaf:\n"
        ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
        ".set nop5_word, 8\n"
        ".rept 16\n"
        "xor %ecx, %ecx\n"
        "cmp %rdi, -nop5_word(%rsp)\n"
        "setne %cl\n"
        "add %rcx, %rax\n"
        ".set nop5_word, nop5_word + 8\n"
        ".endr\n"
        "ret\n"
        ".size trap_nop5_in_leaf, . - trap_nop5_in_leaf\n.popsection\n");
