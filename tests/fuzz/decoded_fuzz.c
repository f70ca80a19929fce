// SPDX-License-Identifier: Apache-2.0
/* Use bytes as a parser's answers about machine code, like those of one that hostile code has taken
 * over (libFuzzer). */
#include <stdlib.h>
#include <string.h>

#include "arch/decoder.h"
#include "capture/probe_link.h"
#include "flow_visits.h"
#include "native/dataflow.h"
#include "native/parser.h"
#include "native/stack_depth.h"

enum { START = 0x10000, CODE_BYTES = 6000 };

/* What is left of the input. */
static const uint8_t *lies;
static size_t lies_size;

static void tell(const uint8_t *data, size_t size)
{
    lies = data;
    lies_size = size;
}

/* Take an instruction from the input. It has the right address where the input does not lie about
 * that, because few inputs would have any. False at the end. */
static bool take(uint64_t address, struct instruction *instruction)
{
    size_t head = instruction_bytes(0), size;

    if (lies_size < head)
        return false;
    memcpy(instruction, lies, head);
    size = instruction_bytes(instruction->count <= ASSIGNMENTS_MAX ? instruction->count : 0);
    if (lies_size < size)
        return false;
    memcpy(instruction, lies, size);
    lies += size;
    lies_size -= size;
    if (!instruction->address)
        instruction->address = address;
    return true;
}

/* Called instead of parser_ask(). The first byte of an answer says how many instructions it has. */
bool __wrap_parser_ask(struct parser *parser, const struct elf_request *request, const char *text,
                       int fd, struct buffer *answer);
bool __wrap_parser_ask(struct parser *parser, const struct elf_request *request, const char *text,
                       int fd, struct buffer *answer)
{
    uint64_t address = request->address;
    unsigned int count = lies_size ? *lies : 0;
    struct instruction instruction;

    (void)parser;
    (void)text;
    (void)fd;
    answer->size = 0;
    if (!lies_size)
        return false;
    lies++;
    lies_size--;
    while (count-- && take(address, &instruction)) {
        buffer_put(answer, &instruction,
                   instruction_bytes(instruction.count <= ASSIGNMENTS_MAX ? instruction.count : 0));
        address += instruction.size;
    }
    return true;
}

static bool read_zeros(void *context, uint64_t address, void *buffer, size_t size)
{
    (void)context;
    (void)address;
    memset(buffer, 0, size);
    return true;
}

static void follow(struct parser *parser)
{
    const struct flow_code code = {.parser = parser,
                                   .read = read_zeros,
                                   .start = START,
                                   .end = START + CODE_BYTES,
                                   .follow_literals = true};

    flow_follow(&code, &(struct flow_visitor){.call = look_at_call, .store = look_at_store});
}

static enum stack_target target(void *context, uint64_t address, uint64_t export)
{
    (void)context;
    return (enum stack_target)((address ^ export) % (STACK_TARGET_NO_WAY_BACK + 1));
}

static void find_depths(struct parser *parser, const uint8_t *bytes)
{
    struct decoder *decoder = parser_decoder(parser);
    const struct stack_code code = {
        .decoder = decoder, .bytes = bytes, .size = CODE_BYTES, .start = START, .target = target};
    struct stack_depths depths;

    stack_depths_find(&code, &depths);
    for (uint64_t offset = 0; offset < CODE_BYTES; offset += 7)
        stack_depth_at(&depths, offset);
    stack_depths_free(&depths);
    decoder_free(decoder);
}

static void find_place(struct parser *parser, const uint8_t *bytes)
{
    static const struct probe_needs needs = {.arguments = 6, .no_nop5 = true};

    if (probe_place(parser, bytes, CODE_BYTES, &needs) >= CODE_BYTES)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t bytes[CODE_BYTES];
    struct parser *parser = parser_here();

    tell(data, size);
    find_depths(parser, bytes);
    tell(data, size);
    find_place(parser, bytes);
    tell(data, size);
    follow(parser);
    parser_release(parser);
    return 0;
}
