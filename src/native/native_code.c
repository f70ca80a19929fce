// SPDX-License-Identifier: Apache-2.0
#include "native/native_code.h"

#include <stdlib.h>
#include <string.h>

#include "arch/code_bytes.h"
#include "arch/decoder.h"
#include "native/elf_file.h"
#include "native/mappings.h"
#include "native/parser.h"
#include "util/alloc.h"

static bool read_file(struct elf_file *file, uint64_t offset, void *buffer, size_t size)
{
    return elf_file_read(file, offset, buffer, size) == size;
}

bool native_code_read(struct elf_file *file, uint64_t address, void *buffer, size_t size)
{
    uint64_t wanted = address - file->bias;

    for (uint32_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *segment = &file->segments[i];
        uint64_t at = wanted - segment->address;

        if (segment->executable && wanted >= segment->address && at <= segment->file_bytes &&
            size <= segment->file_bytes - at)
            return read_file(file, segment->offset + at, buffer, size);
    }
    return false;
}

void native_code_callers(struct elf_file *file, uint64_t function, native_call_visit visit,
                         void *context)
{
    struct buffer answer = {0};
    uint64_t address;

    if (elf_file_ask(file, ELF_CALLS, function - file->bias, NULL, -1, &answer))
        for (size_t at = 0; answer.size - at >= sizeof(address); at += sizeof(address)) {
            memcpy(&address, answer.data + at, sizeof(address));
            visit(context, address + file->bias);
        }
    buffer_free(&answer);
}

enum { FUNCTION_BYTES_MAX = 1 << 20 };

/* True if decoding the code from its start reaches `address`. C compilers put no data into
 * functions, so each instruction directly follows the previous one. */
static bool is_reached(struct parser *parser, struct code_bytes code, uint64_t address)
{
    struct decoder *decoder = parser_decoder(parser);
    struct instruction instruction;

    while (code.address < address && decoder_next(decoder, &code, &instruction))
        ;
    decoder_free(decoder);
    return code.address == address && code.size > 0;
}

bool native_code_instruction_begins_at(struct elf_file *file, uint64_t function, uint64_t address)
{
    uint64_t start, end;
    bool begins = false;
    uint8_t *code;

    if (!native_code_find_function(file, function, &start, &end) || start != function ||
        address < start || address >= end || end - start > FUNCTION_BYTES_MAX)
        return false;
    code = xmalloc(end - start);
    if (native_code_read(file, start, code, end - start))
        begins = is_reached(file->parser, (struct code_bytes){code, end - start, start}, address);
    free(code);
    return begins;
}

/* The header is {version, encodings of eh_frame_ptr, fde_count, table}, eh_frame_ptr, fde_count.
 * Pairs {start, FDE} follow, relative to the section and sorted by start. Other encodings are
 * allowed, but no linker for x86-64 or arm64 writes them. */
enum {
    VERSION = 1,
    POINTER_SDATA4_PCREL = 0x1b,
    COUNT_UDATA4 = 0x03,
    TABLE_SDATA4_DATAREL = 0x3b,
    HEADER_BYTES = 12,
    PAIR_BYTES = 8,
    TABLE_BYTES_MAX = 16 << 20, /* 2 million functions; a VM has 20,000 */
};

/* Read the table once. False if the file has none of this form. */
static bool read_table(struct elf_file *file)
{
    uint64_t size = file->opened.functions_bytes;
    uint8_t *bytes;

    if (file->functions || file->has_no_functions)
        return file->functions;
    file->has_no_functions = true;
    if (size < HEADER_BYTES || size > TABLE_BYTES_MAX)
        return false;
    bytes = xmalloc(size);
    if (read_file(file, file->opened.functions_offset, bytes, size) && bytes[0] == VERSION &&
        bytes[1] == POINTER_SDATA4_PCREL && bytes[2] == COUNT_UDATA4 &&
        bytes[3] == TABLE_SDATA4_DATAREL) {
        file->functions = bytes;
        return true;
    }
    free(bytes);
    return false;
}

/* The pairs of the table, their number, and the address to which they are relative. */
static const uint8_t *find_table(struct elf_file *file, uint64_t *address, size_t *count)
{
    uint32_t listed;
    size_t size;

    if (!read_table(file))
        return NULL;
    memcpy(&listed, file->functions + 8, sizeof(listed));
    size = (file->opened.functions_bytes - HEADER_BYTES) / PAIR_BYTES;
    *count = listed < size ? listed : size;
    *address = file->opened.functions_address;
    return file->functions + HEADER_BYTES;
}

static uint64_t start_at(const uint8_t *table, uint64_t address, size_t index)
{
    int32_t offset;

    memcpy(&offset, table + index * PAIR_BYTES, sizeof(offset));
    return address + (uint64_t)(int64_t)offset;
}

bool native_code_find_function(struct elf_file *file, uint64_t address, uint64_t *start,
                               uint64_t *end)
{
    uint64_t section, wanted = address - file->bias;
    size_t low = 0, high, count;
    const uint8_t *table = find_table(file, &section, &count);

    if (!table)
        return false;
    high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (start_at(table, section, middle) <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return false;
    *start = start_at(table, section, low - 1) + file->bias;
    *end = low < count ? start_at(table, section, low) + file->bias : 0;
    return true;
}

uint64_t native_code_start(struct elf_file *file, uint64_t address)
{
    uint64_t start, end;
    struct cfi_rule *rule;
    size_t size;

    if (!native_code_find_function(file, address, &start, &end))
        return address;
    rule = elf_file_rule(file, address - file->bias, &size);
    if (!rule)
        return address;
    free(rule);
    return start;
}
