// SPDX-License-Identifier: Apache-2.0
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/disassembler.h"
#include "arch/instruction.h"
#include "elf/symbols_internal.h"
#include "util/alloc.h"
#include "util/files.h"

enum { FUNCTION_BYTES_MAX = 1 << 12, ANSWER_BYTES_MAX = 1 << 20 };

/* Read the code at an address, up to `limit` or the end of its segment. Return the bytes read. */
static size_t read_code(Elf *elf, int fd, uint64_t address, uint64_t limit,
                        uint8_t bytes[FUNCTION_BYTES_MAX])
{
    size_t count = 0;
    GElf_Phdr header;

    if (elf_getphdrnum(elf, &count) != 0)
        return 0;
    for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &header); i++) {
        uint64_t at = address - header.p_vaddr, size = limit - address;

        if (header.p_type != PT_LOAD || !(header.p_flags & PF_X) || address < header.p_vaddr ||
            at >= header.p_filesz)
            continue;
        size = size < header.p_filesz - at ? size : header.p_filesz - at;
        size = size < FUNCTION_BYTES_MAX ? size : FUNCTION_BYTES_MAX;
        return files_read_at(fd, header.p_offset + at, bytes, size);
    }
    return 0;
}

/* Return the end of the function whose instructions these are: behind the first one that the next
 * one does not run after, and that no jump of the function leads behind. 0 if there is none. */
static uint64_t end_of(const struct buffer *instructions, uint64_t limit)
{
    uint64_t furthest = 0;

    for (size_t at = 0; at + instruction_bytes(0) <= instructions->size;) {
        struct instruction instruction = {0};
        uint64_t target, next;

        memcpy(&instruction, instructions->data + at, instruction_bytes(0));
        at += instruction_bytes(instruction.count);
        next = instruction.address + instruction.size;
        target = instruction_target(&instruction);
        if (instruction.kind != INSTRUCTION_CALL && target < limit && target > furthest)
            furthest = target;
        if ((instruction.kind == INSTRUCTION_RETURN || instruction.kind == INSTRUCTION_TRAP ||
             instruction.kind == INSTRUCTION_JUMP) &&
            next > furthest)
            return next;
    }
    return 0;
}

uint64_t unsized_end(Elf *elf, int fd, uint64_t start, uint64_t limit)
{
    struct disassembler *disassembler = disassembler_new();
    struct buffer instructions = {0};
    uint8_t *bytes = xmalloc(FUNCTION_BYTES_MAX);
    size_t size = disassembler ? read_code(elf, fd, start, limit, bytes) : 0;
    uint64_t end = 0;

    if (size) {
        disassemble(disassembler, (struct code_bytes){bytes, size, start}, ANSWER_BYTES_MAX,
                    &instructions);
        end = end_of(&instructions, limit);
    }
    buffer_free(&instructions);
    free(bytes);
    disassembler_free(disassembler);
    return end;
}
