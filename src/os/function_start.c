// SPDX-License-Identifier: Apache-2.0
#include "os/function_start.h"

#include <gelf.h>
#include <string.h>

#include "os/mappings.h"

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
