/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0) */
/* The registers of x86-64 (include/arch.h). */
#ifndef BEAMFLAME_ARCH_X86_64_H
#define BEAMFLAME_ARCH_X86_64_H

/* System V ABI, figure 3.36. */
enum cpu_register {
    CPU_RAX,
    CPU_RDX,
    CPU_RCX,
    CPU_RBX,
    CPU_RSI,
    CPU_RDI,
    CPU_RBP,
    CPU_RSP,
    CPU_R8,
    CPU_R9,
    CPU_R10,
    CPU_R11,
    CPU_R12,
    CPU_R13,
    CPU_R14,
    CPU_R15,
    CPU_RIP,
    CPU_REGISTERS,
    CPU_REGISTER_MASK = 15, /* of the general registers: a bound that the verifier sees */

    CPU_SP = CPU_RSP,
    CPU_PC = CPU_RIP,

    /* jit/x86/beam_asm.hpp 25.2.3:93-102, 27.3.4.1:96-105, 29.1.1:126-135 */
    JIT_ACTIVE_CODE_IX = CPU_R12, /* from 25 on */
    JIT_C_P = CPU_R13,
    JIT_FCALLS = CPU_R14,
    JIT_HTOP = CPU_R15,
    /* E_saved, or E where the stacks are apart
       (jit/x86/beam_asm.hpp 24.3.4.4:78, 25.2.3:88, 26.2.1:90, 27.3.4.1:91, 29.1.1:121) */
    JIT_E_SAVED = CPU_RBP,
    JIT_E_SAVED_24 = CPU_R12,
    /* Where the stacks are apart, code that returns has taken the return address off the stack:
     * in a function and in the BIF's and NIF's fragments (jit/x86/instr_call.cpp 25.2.3:50,
     * instr_bif.cpp 25.2.3:687) */
    JIT_RETURN = CPU_RDX,
    JIT_BIF_RETURN = CPU_RAX,
};

/* The C stack of a normal scheduler as C code that the JIT calls finds it: emit_enter_runtime()
 * sets rsp to ErtsSchedulerData.registers, and the call pushes the return address below. The words
 * above are the scratch words TMP_MEM (jit/x86/beam_asm.hpp 25.2.3:618, 27.3.4.1:622, 29.1.1:700).
 * All are bytes from `registers`. */
enum jit_frame {
    JIT_FRAME_RETURN = -8, /* the return address */
    JIT_FRAME_EXPORT = 16, /* TMP_MEM2: the Export of a light BIF, from 25 on */
    JIT_FRAME_END = 24,
};

/* The same where Erlang stacks are apart from the machine stack. Erlang code runs with rsp at
 * `registers`. A fragment that it calls has the return address below, and a fragment that this one
 * calls another. emit_enter_runtime() notes rsp in runtime_stack, the first word of the registers,
 * and aligns it (jit/x86/beam_asm.hpp 25.2.3:656); the call pushes the return address below. */
enum jit_apart_frame {
    JIT_APART_SP = 0,      /* runtime_stack */
    JIT_APART_ERLANG = 16, /* from `registers` down to a fragment that a fragment has called */
    JIT_APART_BELOW = 40,  /* from `registers` down to the return address in C code that a fragment
                            * has called: no C function has pushed anything above */
};

/* Where the stack pointer is before a call of C code, after emit_enter_runtime() noted `sp`. */
static inline unsigned long long jit_apart_aligned(unsigned long long sp)
{
    return (sp - 15) & ~15ULL;
}

/* Sizes of code in bytes: a direct call; a direct jump with a prefix; the longest instruction; and
 * those of the JIT: a function's header up to where callers enter it, behind ErtsCodeInfo; the stub
 * of a NIF up to its second jump; a call where the stacks are apart. */
enum {
    CPU_CALL_BYTES = 5,
    CPU_JUMP_BYTES_MAX = 6,
    CPU_INSTRUCTION_BYTES_MAX = 15,
    JIT_ENTRY_OFFSET = 0x28,
    JIT_NIF_STUB_BYTES = 39,
    JIT_APART_CALL_BYTES = 19,
};

/* mov rsp, [r13 + stop]; mov rbp, [r13 + stop] where the stacks are apart */
enum {
    JIT_LOADS_STOP = 0x658b49,
    JIT_APART_LOADS_STOP = 0x6d8b49,
    JIT_LOADS_STOP_MASK = 0xffffff,
};

#endif
