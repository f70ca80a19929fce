// SPDX-License-Identifier: Apache-2.0
/* The CPU's registers and calling convention, and its numbers in ELF files and core files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

enum { CPU_ARGUMENTS = 6 }; /* arguments in registers, as far as any code here needs them */

/* Sets of registers (include/arch.h): bit N stands for register N. */
typedef uint64_t register_set;

#define REGISTER_BIT(reg) ((register_set)1 << (reg))
#define REGISTERS_ALL     (REGISTER_BIT(CPU_REGISTERS) - 1)

static inline bool registers_have(register_set set, unsigned int reg)
{
    return set >> reg & 1;
}

struct cpu {
    const char *name;      /* in messages: "x86-64" */
    const char *machine;   /* as uname(2) calls it: "x86_64" */
    const char *otel_name; /* host.arch of OpenTelemetry's semantic conventions: "amd64" */

    /* calls of C functions */
    enum cpu_register arguments[CPU_ARGUMENTS];
    enum cpu_register result;
    register_set preserved;          /* a function returns with the caller's values in them */
    register_set lost;               /* a function may leave anything in them; without `result` */
    enum cpu_register return_column; /* has the return address in call-frame information */

    /* ELF */
    uint16_t elf;                            /* e_machine */
    uint32_t plt_relocation, got_relocation; /* put the address of a function into the global
                                              * offset table: at its first call, or at start */

    /* kernel */
    enum cpu_register call_arguments[CPU_ARGUMENTS]; /* of system calls */
    uint32_t audit;     /* its number in filters of system calls: AUDIT_ARCH_X86_64 */
    int uretprobe_call; /* number of the system call uretprobe */
};
extern const struct cpu cpu;

/* Read the registers of a thread from the note NT_PRSTATUS of a core file: elf_gregset_t at
 * `bytes`. False if `size` bytes are too few. */
bool cpu_read_core_registers(const uint8_t *bytes, size_t size, uint64_t registers[CPU_REGISTERS],
                             uint64_t *thread_pointer);
