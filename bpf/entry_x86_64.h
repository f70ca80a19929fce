// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The registers of user code at a tick that hit the kernel, on x86-64.
 *
 * On each entry, the kernel saves the registers of user code at the top of the thread's kernel
 * stack (struct pt_regs). A clock that interrupts by NMI can hit the kernel before it has saved
 * them. What lies there is then from an earlier entry, maybe from other Erlang code. The stack
 * pointer tells how far the entry got (arch/x86/entry/entry_64.S, Linux 6.18):
 *
 *   an interrupt or exception   The CPU switches to the entry stack and pushes ss, rsp, rflags, cs
 *                               and rip there. error_entry() pushes the other registers behind
 *                               them. sync_regs() copies all registers to the thread's stack. Only
 *                               then does the stack pointer move there.
 *   a system call               rsp is user code's until the kernel loads the thread's stack. The
 *                               kernel pushes all registers there, ss first.
 *
 * On the way out the kernel copies the five words back to the entry stack. The registers on the
 * thread's stack are still valid.
 */
#ifndef BEAMFLAME_ENTRY_X86_64_H
#define BEAMFLAME_ENTRY_X86_64_H

#include "sample.h"

/* arch/x86/include/asm/pgtable_64_types.h: CPU_ENTRY_AREA_BASE, and the size of its slot. */
static const __u64 ENTRY_AREA = 0xfffffe0000000000, ENTRY_AREA_BYTES = 1ULL << 39;
enum { ENTRY_PAGE = 4096 };

/* The end of struct pt_regs. The CPU pushes it, or the entry code of a system call. */
struct entry_frame {
    __u64 ip, cs, flags, sp, ss;
};

/* Take rsp and rip of user code from the frame at `address`. No other register is known. */
static __always_inline void frame_registers(struct scratch *scratch, __u64 address)
{
    struct entry_frame frame;

    if (bpf_probe_read_kernel(&frame, sizeof(frame), (void *)address) || (frame.cs & 3) != 3 ||
        (frame.ss & 3) != 3) {
        scratch->sample.flags |= WIRE_ENTRY;
        return;
    }
    scratch->sample.registers.value[CPU_SP] = frame.sp;
    scratch->sample.registers.value[CPU_PC] = frame.ip;
    scratch->sample.flags |= WIRE_REGISTERS | WIRE_WAITS;
}

static __always_inline void on_entry_stack(struct scratch *scratch, struct task_struct *task,
                                           __u64 sp)
{
    __u64 top = ((sp - 1) & ~(__u64)(ENTRY_PAGE - 1)) + bpf_core_type_size(struct entry_stack);

    if (sp <= top - sizeof(struct entry_frame))
        frame_registers(scratch, top - sizeof(struct entry_frame));
    else
        user_registers(scratch, task); /* on the way out */
}

/* Find the registers of user code at a tick that hit the kernel with stack pointer `sp`. */
static __always_inline void entry_registers(struct scratch *scratch, struct task_struct *task,
                                            __u64 sp)
{
    __u64 saved = (__u64)saved_registers(task), frame = saved + offsetof(struct pt_regs, ip);

    if (sp - ENTRY_AREA < ENTRY_AREA_BYTES)
        on_entry_stack(scratch, task, sp);
    else if (sp > saved && sp <= frame)
        frame_registers(scratch, frame);
    else if ((__s64)sp >= 0 || (sp > frame && sp <= saved + sizeof(struct pt_regs)))
        scratch->sample.flags |= WIRE_ENTRY;
    else
        user_registers(scratch, task);
}

#endif
