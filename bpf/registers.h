// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The CPU's part of the programs, besides include/arch.h. Arguments of C functions are read by
 * PT_REGS_PARM1() and the like, of libbpf. A CPU's header defines:
 *
 *   KERNEL_STACK_BYTES            size of a thread's kernel stack
 *   UPROBE_SLOT_BYTES             size of the memory in which an instruction under a probe runs
 *   registers_copy(to, from)      the registers of a sample, from the kernel's
 *   registers_are_user(regs)      true if the registers are those of user code
 *   jit_process(regs)             the process that JIT code runs
 *   jit_heap_top(regs)            the top of its heap
 *   jit_x_registers(regs)         the address of its X registers
 *   thread_pointer_of(task)       what pthread_self() returns in that thread
 */
#ifndef BEAMFLAME_REGISTERS_H
#define BEAMFLAME_REGISTERS_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "wire.h"

#if defined(__TARGET_ARCH_x86)
#include "registers_x86_64.h"
#else
#error "this CPU is not supported"
#endif

#endif
