// SPDX-License-Identifier: Apache-2.0
#include "calls/call_loop.h"

#include <stdlib.h>
#include <string.h>

#include "arch/decoder.h"
#include "native/mappings.h"
#include "native/parser.h"
#include "util/alloc.h"

enum { CODE_MAX = 1 << 18 /* bytes of a function that are looked at */ };

static bool jumps_to(struct decoder *decoder, struct code_bytes code, uint64_t entry)
{
    struct instruction instruction;

    while (decoder_next(decoder, &code, &instruction))
        if (instruction.kind != INSTRUCTION_CALL && instruction_target(&instruction) == entry)
            return true;
    return false;
}

/* A function's header contains its entry. The function's code follows the header. */
static bool find_body(struct code *code, uint64_t entry, struct code_place *body)
{
    struct code_place header;

    return code_find(code, entry, &header) && header.is_function_header &&
           code_find(code, header.end, body) && body->kind == CODE_FUNCTION &&
           body->start == header.end;
}

bool call_loop_is(struct vm *vm, struct code *code, uint64_t entry)
{
    struct decoder *decoder;
    struct code_place body;
    uint8_t *bytes;
    size_t size;
    bool result;

    if (!find_body(code, entry, &body))
        return false;
    size = body.end - body.start < CODE_MAX ? body.end - body.start : CODE_MAX;
    bytes = xmalloc(size);
    decoder = parser_decoder(mappings_parser(vm->mappings));
    result = memory_read(vm->memory, body.start, bytes, size) &&
             jumps_to(decoder, (struct code_bytes){bytes, size, body.start}, entry);
    decoder_free(decoder);
    free(bytes);
    return result;
}
