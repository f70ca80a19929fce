// SPDX-License-Identifier: Apache-2.0
#include "os/native_code.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/code_bytes.h"
#include "arch/instruction.h"
#include "os/mappings.h"
#include "util/alloc.h"

enum {
    CHUNK_BYTES = 1 << 16,
    CODE_MAX = 256 << 20,
};

static bool read_file(const struct elf_file *file, uint64_t offset, void *buffer, size_t size)
{
    const char *image;
    size_t image_size;

    if (file->fd >= 0)
        return pread(file->fd, buffer, size, (off_t)offset) == (ssize_t)size;
    image = elf_rawfile(file->elf, &image_size);
    if (!image || offset > image_size || size > image_size - offset)
        return false;
    memcpy(buffer, image + offset, size);
    return true;
}

/* Find the next executable segment, from number *index on. */
static bool next_segment(const struct elf_file *file, size_t *index, GElf_Phdr *segment)
{
    size_t count;

    if (elf_getphdrnum(file->elf, &count) != 0)
        return false;
    while (*index < count)
        if (gelf_getphdr(file->elf, (int)(*index)++, segment) && segment->p_type == PT_LOAD &&
            (segment->p_flags & PF_X))
            return true;
    return false;
}

bool native_code_read(const struct elf_file *file, uint64_t address, void *buffer, size_t size)
{
    uint64_t wanted = address - file->bias;
    GElf_Phdr segment;
    size_t index = 0;

    while (next_segment(file, &index, &segment))
        if (wanted >= segment.p_vaddr && wanted - segment.p_vaddr <= segment.p_filesz &&
            size <= segment.p_filesz - (wanted - segment.p_vaddr))
            return read_file(file, segment.p_offset + (wanted - segment.p_vaddr), buffer, size);
    return false;
}

/* Visit the calls in one chunk. False if a visit ended the search. */
static bool visit_calls(const struct code_bytes *code, uint64_t function, native_call_visit visit,
                        void *context)
{
    uint64_t target;

    for (size_t at = 0; code_next_call(code, &at, &target); at++)
        if (target == function && !visit(context, code->address + at))
            return false;
    return true;
}

void native_code_callers(const struct elf_file *file, uint64_t function, native_call_visit visit,
                         void *context)
{
    uint8_t *bytes = xmalloc(CHUNK_BYTES);
    GElf_Phdr segment;
    size_t index = 0;

    while (next_segment(file, &index, &segment)) {
        uint64_t start = segment.p_vaddr + file->bias;

        /* Chunks overlap by the size of a call minus one byte. */
        for (uint64_t at = 0; at < segment.p_filesz && at < CODE_MAX;
             at += CHUNK_BYTES - CPU_CALL_BYTES + 1) {
            uint64_t left = segment.p_filesz - at;
            size_t size = left < CHUNK_BYTES ? left : CHUNK_BYTES;

            if (!read_file(file, segment.p_offset + at, bytes, size) ||
                !visit_calls(&(struct code_bytes){bytes, size, start + at}, function, visit,
                             context)) {
                free(bytes);
                return;
            }
        }
    }
    free(bytes);
}

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
};

static const uint8_t *find_table(const struct elf_file *file, uint64_t *address, size_t *count)
{
    size_t strings, size;
    Elf_Scn *section = NULL;
    uint32_t listed;

    if (elf_getshdrstrndx(file->elf, &strings))
        return NULL;
    while ((section = elf_nextscn(file->elf, section))) {
        const uint8_t *bytes;
        GElf_Shdr header;
        const char *name;
        Elf_Data *data;

        if (!gelf_getshdr(section, &header) ||
            !(name = elf_strptr(file->elf, strings, header.sh_name)) ||
            strcmp(name, ".eh_frame_hdr"))
            continue;
        data = elf_rawdata(section, NULL);
        if (!data || !data->d_buf || data->d_size < HEADER_BYTES)
            return NULL;
        bytes = data->d_buf;
        if (bytes[0] != VERSION || bytes[1] != POINTER_SDATA4_PCREL || bytes[2] != COUNT_UDATA4 ||
            bytes[3] != TABLE_SDATA4_DATAREL)
            return NULL;
        memcpy(&listed, bytes + 8, sizeof(listed));
        size = (data->d_size - HEADER_BYTES) / PAIR_BYTES;
        *count = listed < size ? listed : size;
        *address = header.sh_addr;
        return bytes + HEADER_BYTES;
    }
    return NULL;
}

static uint64_t start_at(const uint8_t *table, uint64_t address, size_t index)
{
    int32_t offset;

    memcpy(&offset, table + index * PAIR_BYTES, sizeof(offset));
    return address + (uint64_t)(int64_t)offset;
}

bool native_function_find(const struct elf_file *file, uint64_t address, uint64_t *start,
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
