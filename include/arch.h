/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0) */
/*
 * The registers of the CPU, and what the VM's JIT keeps in them. The target has the CPU that this
 * program is built for.
 *
 * A CPU's header defines:
 *
 *   enum cpu_register   each register by its DWARF number, which CFI, samples and data flow use;
 *                       CPU_REGISTERS, their number; roles:
 *       CPU_SP, CPU_PC       the stack pointer, the program counter
 *       JIT_C_P, JIT_FCALLS, JIT_HTOP, JIT_ACTIVE_CODE_IX
 *                            what Erlang code keeps in registers
 *       JIT_E_SAVED, JIT_E_SAVED_24
 *                            the Erlang stack pointer during a call of C code that leaves
 *                            Process.stop out of date, from OTP 25 on and in 24
 *       JIT_RETURN, JIT_BIF_RETURN
 *                            the return address in code that is about to return, where Erlang
 *                            stacks are apart
 *   enum jit_frame      the JIT's frame on the C stack of a scheduler
 *   enum jit_apart_frame, jit_apart_aligned()
 *                       the same where Erlang stacks are apart
 *   CPU_CALL_BYTES...   sizes of code
 *   JIT_LOADS_STOP, JIT_APART_LOADS_STOP
 *                       the first bytes of the instruction that takes the Erlang stack pointer from
 *                       Process.stop, below the bits of JIT_LOADS_STOP_MASK
 *
 * Erlang stacks are apart if Erlang code does not run on the machine stack (features.native_stack).
 *
 * Names of the VM are as in its sources.
 */
#ifndef BEAMFLAME_ARCH_H
#define BEAMFLAME_ARCH_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "arch_x86_64.h"
#else
#error "this CPU is not supported"
#endif

#endif
