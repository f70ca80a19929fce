// SPDX-License-Identifier: Apache-2.0
#include "arch/jit_code.h"

#include <string.h>

enum { MOVE_BYTES = 3 };

/* After a call of C code, the code takes the top of the Erlang stack from a register or from the
 * process. Return which of the two instructions comes first. */
static enum jit_stack first_of(const uint8_t *bytes, size_t size,
                               const uint8_t in_register[MOVE_BYTES],
                               const uint8_t in_process[MOVE_BYTES])
{
    for (size_t i = 0; i + MOVE_BYTES <= size; i++) {
        if (!memcmp(bytes + i, in_register, MOVE_BYTES))
            return JIT_STACK_IN_REGISTER;
        if (!memcmp(bytes + i, in_process, MOVE_BYTES))
            return JIT_STACK_IN_PROCESS;
    }
    return JIT_STACK_UNKNOWN;
}

/* x86/beam_asm.hpp emit_leave_runtime (25.2.3:699, 27.3.4.1:741, 29.1.1:819). */
enum jit_stack jit_code_stack_after_call(const uint8_t *bytes, size_t size, enum cpu_register saved)
{
    static const uint8_t STOP[] = {0x49, 0x8b, 0x65}; /* mov rsp, [r13 + stop] */
    static const uint8_t RBP[] = {0x48, 0x89, 0xec};  /* mov rsp, rbp */
    static const uint8_t R12[] = {0x4c, 0x89, 0xe4};  /* mov rsp, r12 */

    return first_of(bytes, size, saved == CPU_R12 ? R12 : RBP, STOP);
}

/* ---- where the stacks are apart ---- */

/* x86/beam_asm.hpp emit_leave_runtime 25.2.3:699. Its last instruction takes back the machine
 * stack pointer. */
enum jit_stack jit_code_stack_apart_after_call(const uint8_t *bytes, size_t size)
{
    static const uint8_t STOP[] = {0x49, 0x8b, 0x6d};    /* mov rbp, [r13 + stop] */
    static const uint8_t MACHINE[] = {0x48, 0x8b, 0x63}; /* mov rsp, [rbx + runtime_stack] */

    return first_of(bytes, size, MACHINE, STOP);
}

/* The address that the four bytes at `at` give, relative to another address. */
static uint64_t relative(const uint8_t *at, uint64_t address)
{
    int32_t offset;

    memcpy(&offset, at, sizeof(offset));
    return address + (uint64_t)(int64_t)offset;
}

enum { LEA_BYTES = 7, STORE_BYTES = 4 };

/* True if the code in front of a jump stores the return address of a call. `address` is that of
 * the jump:
 *      lea reg, [rip + next]
 *      mov [rbp], reg
 *      jmp target
 *      next                    after padding
 */
static bool stores_return(const uint8_t *jump, uint64_t address, uint64_t return_address)
{
    const uint8_t *store = jump - STORE_BYTES, *lea = store - LEA_BYTES;

    return (lea[0] & ~4) == 0x48 && lea[1] == 0x8d && (lea[2] & 0xc7) == 0x05 &&
           store[0] == lea[0] && store[1] == 0x89 && (store[2] & 0x38) == (lea[2] & 0x38) &&
           (store[2] & 0xc7) == 0x45 && store[3] == 0 &&
           relative(lea + 3, address - STORE_BYTES) == return_address;
}

bool jit_code_apart_call(const uint8_t bytes[JIT_APART_CALL_BYTES], uint64_t return_address,
                         uint64_t *target)
{
    enum { PADDING_MAX = 3, NEAR = 0xe9, NEAR_BYTES = 5, SHORT = 0xeb, SHORT_BYTES = 2 };

    for (unsigned int padding = 0; padding <= PADDING_MAX; padding++) {
        const uint8_t *end = bytes + JIT_APART_CALL_BYTES - padding;
        uint64_t address = return_address - padding;

        if (end[-NEAR_BYTES] == NEAR &&
            stores_return(end - NEAR_BYTES, address - NEAR_BYTES, return_address)) {
            *target = relative(end - sizeof(int32_t), address);
            return true;
        }
        if (end[-SHORT_BYTES] == SHORT &&
            stores_return(end - SHORT_BYTES, address - SHORT_BYTES, return_address)) {
            *target = address + (uint64_t)(int64_t)(int8_t)end[-1];
            return true;
        }
    }
    return false;
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
