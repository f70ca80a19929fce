// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Registers of x86-64 (registers.h). */
#ifndef BEAMFLAME_REGISTERS_X86_64_H
#define BEAMFLAME_REGISTERS_X86_64_H

enum {
    KERNEL_STACK_BYTES = 16384, /* arch/x86/include/asm/page_64_types.h, without KASAN */
    UPROBE_SLOT_BYTES = 128,    /* UPROBE_XOL_SLOT_BYTES, arch/x86/include/asm/uprobes.h */
};

static __always_inline void registers_copy(struct wire_registers *to, const struct pt_regs *from)
{
    to->value[CPU_RAX] = from->ax;
    to->value[CPU_RDX] = from->dx;
    to->value[CPU_RCX] = from->cx;
    to->value[CPU_RBX] = from->bx;
    to->value[CPU_RSI] = from->si;
    to->value[CPU_RDI] = from->di;
    to->value[CPU_RBP] = from->bp;
    to->value[CPU_RSP] = from->sp;
    to->value[CPU_R8] = from->r8;
    to->value[CPU_R9] = from->r9;
    to->value[CPU_R10] = from->r10;
    to->value[CPU_R11] = from->r11;
    to->value[CPU_R12] = from->r12;
    to->value[CPU_R13] = from->r13;
    to->value[CPU_R14] = from->r14;
    to->value[CPU_R15] = from->r15;
    to->value[CPU_RIP] = from->ip;
}

static __always_inline bool registers_are_user(const struct pt_regs *regs)
{
    return (regs->cs & 3) == 3;
}

/* JIT_C_P */
static __always_inline __u64 jit_process(const struct pt_regs *regs)
{
    return regs->r13;
}

/* JIT_HTOP */
static __always_inline __u64 jit_heap_top(const struct pt_regs *regs)
{
    return regs->r15;
}

/* registers */
static __always_inline __u64 jit_x_registers(const struct pt_regs *regs)
{
    return regs->bx;
}

static __always_inline __u64 thread_pointer_of(struct task_struct *task)
{
    return BPF_CORE_READ(task, thread.fsbase);
}

#endif
