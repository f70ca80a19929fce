// SPDX-License-Identifier: Apache-2.0
#include "os/tail_jumps.h"

#include "arch/instruction.h"

void tail_jumps(const uint8_t *code, size_t size, uint64_t start, code_exit_visit visit,
                void *context)
{
    struct code_bytes rest = {code, size, start};
    struct decoder *decoder = decoder_new();
    struct instruction instruction;

    while (decoder && decoder_next(decoder, &rest, &instruction)) {
        uint64_t target = instruction_target(&instruction);

        if (instruction.kind != INSTRUCTION_CALL && target && target - start >= size)
            visit(context, target);
    }
    decoder_free(decoder);
}
