// SPDX-License-Identifier: Apache-2.0
#include "arch/cpu.h"

#include <elf.h>
#include <linux/audit.h>
#include <string.h>

/* System V ABI 3.2.3 and figure 3.4. libdw has a list of preserved registers too, but it takes rax
 * for rbx (elfutils 0.188, backends/x86_64_cfi.c:44: register 0 is called "%rbx"). */
const struct cpu cpu = {
    .name = "x86-64",
    .machine = "x86_64",
    .otel_name = "amd64",
    .arguments = {CPU_RDI, CPU_RSI, CPU_RDX, CPU_RCX, CPU_R8, CPU_R9},
    .result = CPU_RAX,
    .preserved = REGISTER_BIT(CPU_RBX) | REGISTER_BIT(CPU_RBP) | REGISTER_BIT(CPU_R12) |
                 REGISTER_BIT(CPU_R13) | REGISTER_BIT(CPU_R14) | REGISTER_BIT(CPU_R15),
    .lost = REGISTER_BIT(CPU_RCX) | REGISTER_BIT(CPU_RDX) | REGISTER_BIT(CPU_RSI) |
            REGISTER_BIT(CPU_RDI) | REGISTER_BIT(CPU_R8) | REGISTER_BIT(CPU_R9) |
            REGISTER_BIT(CPU_R10) | REGISTER_BIT(CPU_R11),
    .return_column = CPU_PC,
    .elf = EM_X86_64,
    .plt_relocation = R_X86_64_JUMP_SLOT,
    .got_relocation = R_X86_64_GLOB_DAT,
    .call_arguments = {CPU_RDI, CPU_RSI, CPU_RDX, CPU_R10, CPU_R8, CPU_R9}, /* syscall(2) */
    .audit = AUDIT_ARCH_X86_64,
    .uretprobe_call = 335, /* arch/x86/entry/syscalls/syscall_64.tbl */
};

/* The index of each register in user_regs_struct (asm/user_64.h). */
enum { WORDS = 27, FS_BASE = 21 };
static const uint8_t places[CPU_REGISTERS] = {
    [CPU_R15] = 0,  [CPU_R14] = 1,  [CPU_R13] = 2,  [CPU_R12] = 3,  [CPU_RBP] = 4,  [CPU_RBX] = 5,
    [CPU_R11] = 6,  [CPU_R10] = 7,  [CPU_R9] = 8,   [CPU_R8] = 9,   [CPU_RAX] = 10, [CPU_RCX] = 11,
    [CPU_RDX] = 12, [CPU_RSI] = 13, [CPU_RDI] = 14, [CPU_RIP] = 16, [CPU_RSP] = 19,
};

bool cpu_read_core_registers(const uint8_t *bytes, size_t size, uint64_t registers[CPU_REGISTERS],
                             uint64_t *thread_pointer)
{
    uint64_t words[WORDS];

    if (size < sizeof(words))
        return false;
    memcpy(words, bytes, sizeof(words));
    for (int i = 0; i < CPU_REGISTERS; i++)
        registers[i] = words[places[i]];
    *thread_pointer = words[FS_BASE];
    return true;
}
