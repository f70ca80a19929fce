// SPDX-License-Identifier: Apache-2.0
#include "native/native_code.h"

#include <stdlib.h>
#include <string.h>

#include "arch/code_bytes.h"
#include "arch/decoder.h"
#include "elf/function_table.h"
#include "native/cfi_rules.h"
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

enum { TABLE_BYTES_MAX = 16 << 20 }; /* 2 million functions; a VM has 20,000 */

/* Read the table, if it is not in memory. False if the file has none. */
static bool find_table(struct elf_file *file, struct function_table *table)
{
    uint64_t size = file->opened.functions_bytes, address = file->opened.functions_address;

    if (file->has_no_functions || size > TABLE_BYTES_MAX)
        return false;
    if (!file->functions) {
        file->functions = xmalloc(size + 1);
        file->has_no_functions =
            !read_file(file, file->opened.functions_offset, file->functions, size);
    }
    return !file->has_no_functions && function_table_read(table, file->functions, size, address);
}

void native_code_forget(struct elf_file *file)
{
    free(file->functions);
    file->functions = NULL;
}

bool native_code_find_function(struct elf_file *file, uint64_t address, uint64_t *start,
                               uint64_t *end)
{
    struct function_table table;
    size_t until;

    if (!find_table(file, &table))
        return false;
    until = function_table_until(&table, address - file->bias);
    if (!until)
        return false;
    *start = function_table_start(&table, until - 1) + file->bias;
    *end = until < table.count ? function_table_start(&table, until) + file->bias : 0;
    return true;
}

uint64_t native_code_start(struct elf_file *file, uint64_t address)
{
    uint64_t start, end;

    if (native_code_find_function(file, address, &start, &end) &&
        cfi_rules_cover(file, address - file->bias))
        return start;
    return address;
}
