// SPDX-License-Identifier: Apache-2.0
#include "arch/jit_call.h"

/* The compiler's data below the stack pointer (the red zone, 128 bytes) are kept. */
__attribute__((noinline)) uint64_t jit_call(void (*function)(void), const void *process,
                                            const uint64_t *x_registers)
{
    uint64_t returned;

    __asm__ volatile(
        "mov %[process], %%r13\n\t"
        "mov %[x_registers], %%rbx\n\t"
        "sub $128, %%rsp\n\t"
        "call *%[function]\n"
        "1:\n\t"
        "add $128, %%rsp\n\t"
        "lea 1b(%%rip), %[returned]"
        : [returned] "=r"(returned)
        : [function] "r"(function), [process] "r"(process), [x_registers] "r"(x_registers)
        : "r13", "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc",
          "memory");
    return returned;
}
