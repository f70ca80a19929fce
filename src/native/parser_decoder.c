// SPDX-License-Identifier: Apache-2.0
/* A file of its own, so that a fuzzer can replace parser_ask() here (FUZZ_WRAPPED in the Makefile).
 */
#include <assert.h>

#include "arch/decoder.h"
#include "native/parser.h"

/* A decoder_ask. */
static bool ask_to_decode(void *context, const struct code_bytes *code, struct buffer *answer)
{
    const struct elf_request request = {
        .call = ELF_INSTRUCTIONS, .address = code->address, .text_bytes = (uint32_t)code->size};

    return parser_ask(context, &request, (const char *)code->bytes, -1, answer);
}

struct decoder *parser_decoder(struct parser *parser)
{
    static_assert((int)DECODER_REQUEST_BYTES <= (int)ELF_TEXT_MAX, "a request has no room");

    return decoder_new(ask_to_decode, parser);
}
