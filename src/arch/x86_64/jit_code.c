// SPDX-License-Identifier: Apache-2.0
#include "arch/jit_code.h"

#include <string.h>

/* x86/beam_asm.hpp emit_leave_runtime (25.2.3:699, 27.3.4.1:741, 29.1.1:819). */
enum jit_stack jit_code_stack_after_call(const uint8_t *bytes, size_t size, enum cpu_register saved)
{
    static const uint8_t STOP[] = {0x49, 0x8b, 0x65}; /* mov rsp, [r13 + stop] */
    static const uint8_t RBP[] = {0x48, 0x89, 0xec};  /* mov rsp, rbp */
    static const uint8_t R12[] = {0x4c, 0x89, 0xe4};  /* mov rsp, r12 */
    const uint8_t *from_register = saved == CPU_R12 ? R12 : RBP;

    for (size_t i = 0; i + sizeof(STOP) <= size; i++) {
        if (!memcmp(bytes + i, from_register, sizeof(STOP)))
            return JIT_STACK_IN_REGISTER;
        if (!memcmp(bytes + i, STOP, sizeof(STOP)))
            return JIT_STACK_IN_PROCESS;
    }
    return JIT_STACK_UNKNOWN;
}

/* ---- stubs of NIFs ---- */

/*
 *      label     8 bytes that breakpoints can change (emit_i_breakpoint_trampoline)
 *      function  frame, jump to dispatch, padding
 *                u64 called, u64 module, u64 dirty       ErtsNativeFunc, 8-aligned
 *      dispatch  lea rdx, [rip + ...]                    the label
 *                jump to what all stubs share
 *
 * The JIT lists the code before `function` as a place of its own, with the name of the function.
 */
enum {
    LABEL = -8,    /* from `function` */
    WORDS = 8,     /* offset of `called` */
    DIRTY = 24,    /* offset of `dirty` */
    DISPATCH = 32, /* offset of the instruction that loads the label */
};

bool jit_code_is_nif_stub(const uint8_t bytes[JIT_NIF_STUB_BYTES], uint64_t *called,
                          uint64_t *dirty)
{
    static const uint8_t LEA_RDX_RIP[] = {0x48, 0x8d, 0x15};
    int32_t offset;

    memcpy(&offset, bytes + DISPATCH + sizeof(LEA_RDX_RIP), sizeof(offset));
    if (memcmp(bytes + DISPATCH, LEA_RDX_RIP, sizeof(LEA_RDX_RIP)) != 0 ||
        offset != LABEL - JIT_NIF_STUB_BYTES)
        return false;
    memcpy(called, bytes + WORDS, sizeof(*called));
    memcpy(dirty, bytes + DIRTY, sizeof(*dirty));
    return true;
}
