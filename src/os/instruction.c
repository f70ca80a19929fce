// SPDX-License-Identifier: Apache-2.0
#include "os/instruction.h"

#include <stdlib.h>

#include "arch/instruction.h"
#include "os/function_start.h"
#include "os/native_code.h"
#include "util/alloc.h"

enum { FUNCTION_BYTES_MAX = 1 << 20 };

/* True if decoding the code from its start reaches `address`. C compilers put no data into
 * functions, so each instruction directly follows the previous one. */
static bool is_reached(struct code_bytes code, uint64_t address)
{
    struct decoder *decoder = decoder_new();
    struct instruction instruction;

    if (!decoder)
        return false;
    while (code.address < address && decoder_next(decoder, &code, &instruction))
        ;
    decoder_free(decoder);
    return code.address == address && code.size > 0;
}

bool instruction_begins_at(struct elf_file *file, uint64_t function, uint64_t address)
{
    uint64_t start, end;
    bool begins = false;
    uint8_t *code;

    if (!native_function_find(file, function, &start, &end) || start != function ||
        address < start || address >= end || end - start > FUNCTION_BYTES_MAX)
        return false;
    code = xmalloc(end - start);
    if (native_code_read(file, start, code, end - start))
        begins = is_reached((struct code_bytes){code, end - start, start}, address);
    free(code);
    return begins;
}
