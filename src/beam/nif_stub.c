// SPDX-License-Identifier: Apache-2.0
#include "beam/nif_stub.h"

#include <string.h>

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
    LABEL = -8,     /* from `function` */
    WORDS = 8,      /* offset of `called` */
    DIRTY = 24,     /* offset of `dirty` */
    DISPATCH = 32,  /* offset of the instruction that loads the label */
    AFTER_LOAD = 39 /* offset of the next instruction */
};

/* True if the code at `dispatch` loads the label. */
static bool loads_label(const uint8_t *function)
{
    static const uint8_t LEA_RDX_RIP[] = {0x48, 0x8d, 0x15};
    int32_t offset;

    memcpy(&offset, function + DISPATCH + sizeof(LEA_RDX_RIP), sizeof(offset));
    return !memcmp(function + DISPATCH, LEA_RDX_RIP, sizeof(LEA_RDX_RIP)) &&
           AFTER_LOAD + offset == LABEL;
}

bool nif_stub_read(struct memory *memory, uint64_t function, struct nif_stub *stub)
{
    uint8_t bytes[AFTER_LOAD];

    if (!memory_read(memory, function, bytes, sizeof(bytes)) || !loads_label(bytes))
        return false;
    memcpy(&stub->called, bytes + WORDS, sizeof(stub->called));
    memcpy(&stub->dirty, bytes + DIRTY, sizeof(stub->dirty));
    return true;
}
