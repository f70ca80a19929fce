// SPDX-License-Identifier: Apache-2.0
/* Calls and jumps in code that is not decoded: they are recognized by their bytes. Where the code
 * is searched, bytes that match may also be a part of another instruction. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

/* Bytes of code at an address of the target. */
struct code_bytes {
    const uint8_t *bytes;
    size_t size;
    uint64_t address;
};

/* Find the next direct call from offset *at on. *at becomes its offset, *target the address of the
 * function. */
bool code_bytes_next_call(const struct code_bytes *code, size_t *at, uint64_t *target);

/* The same for a call through a word of memory near the code: *word becomes the word's address. */
bool code_bytes_next_literal_call(const struct code_bytes *code, size_t *at, uint64_t *word);

/* An address that an instruction contains, relative to its own. */
struct code_reference {
    uint64_t target;
    enum { REFERENCE_CALL, REFERENCE_JUMP, REFERENCE_ADDRESS } kind; /* the last: to a register */
};

/* Find the next reference from offset *at on. *at becomes its offset. */
bool code_bytes_next_reference(const struct code_bytes *code, size_t *at,
                               struct code_reference *reference);

/* True if the bytes begin with a direct jump. *target becomes its target. `size` of
 * CPU_JUMP_BYTES_MAX suffices. */
bool code_bytes_jump(const struct code_bytes *code, uint64_t *target);

/* True if the bytes are a stub of the procedure linkage table: they jump through a word of memory.
 * *word becomes its address. */
bool code_bytes_plt_stub(const struct code_bytes *code, uint64_t *word);
