// SPDX-License-Identifier: Apache-2.0
#include "arch/code_bytes.h"

#include <string.h>

/* call rel32, jmp rel32, and the start of call [rip + disp32] and jmp [rip + disp32] */
enum { CALL = 0xe8, JUMP = 0xe9, INDIRECT = 0xff, CALL_RIP = 0x15, JUMP_RIP = 0x25 };
/* lea r64, [rip + disp32]: a prefix for the register, the opcode, and its operands */
enum { REX_W = 0x48, REX_R = 0x04, LEA = 0x8d, OPERANDS = 0xc7, RIP = 0x05, LEA_BYTES = 7 };
enum { REX = 0x40, INDIRECT_BYTES = 6 };

/* The address in the last four bytes of an instruction, relative to its end. */
static uint64_t relative(const struct code_bytes *code, size_t end)
{
    int32_t offset;

    memcpy(&offset, code->bytes + end - sizeof(offset), sizeof(offset));
    return code->address + end + (uint64_t)(int64_t)offset;
}

bool code_bytes_next_call(const struct code_bytes *code, size_t *at, uint64_t *target)
{
    for (; *at + CPU_CALL_BYTES <= code->size; (*at)++) {
        if (code->bytes[*at] != CALL)
            continue;
        *target = relative(code, *at + CPU_CALL_BYTES);
        return true;
    }
    return false;
}

static bool is_lea(const uint8_t *bytes)
{
    return (bytes[0] & ~REX_R) == REX_W && bytes[1] == LEA && (bytes[2] & OPERANDS) == RIP;
}

bool code_bytes_next_reference(const struct code_bytes *code, size_t *at,
                               struct code_reference *reference)
{
    for (; *at + CPU_CALL_BYTES <= code->size; (*at)++) {
        const uint8_t *bytes = code->bytes + *at;
        bool is_branch = bytes[0] == CALL || bytes[0] == JUMP;
        size_t end = *at + (is_branch ? CPU_CALL_BYTES : LEA_BYTES);

        if (!is_branch && (end > code->size || !is_lea(bytes)))
            continue;
        reference->target = relative(code, end);
        reference->kind = bytes[0] == CALL   ? REFERENCE_CALL
                          : bytes[0] == JUMP ? REFERENCE_JUMP
                                             : REFERENCE_ADDRESS;
        return true;
    }
    return false;
}

static bool next_indirect(const struct code_bytes *code, uint8_t second, size_t *at, uint64_t *word)
{
    for (; *at + INDIRECT_BYTES <= code->size; (*at)++) {
        if (code->bytes[*at] != INDIRECT || code->bytes[*at + 1] != second)
            continue;
        *word = relative(code, *at + INDIRECT_BYTES);
        return true;
    }
    return false;
}

bool code_bytes_next_literal_call(const struct code_bytes *code, size_t *at, uint64_t *word)
{
    return next_indirect(code, CALL_RIP, at, word);
}

/* OTP 25 puts a prefix before jumps to fragments (x86/beam_asm_module.cpp resolve_fragment). */
bool code_bytes_jump(const struct code_bytes *code, uint64_t *target)
{
    size_t at = code->size > 0 && code->bytes[0] == REX;

    if (at + CPU_CALL_BYTES > code->size || code->bytes[at] != JUMP)
        return false;
    *target = relative(code, at + CPU_CALL_BYTES);
    return true;
}

/* endbr64 or a bnd prefix may precede the jump (System V ABI). */
bool code_bytes_plt_stub(const struct code_bytes *code, uint64_t *word)
{
    size_t at = 0;

    return next_indirect(code, JUMP_RIP, &at, word);
}
