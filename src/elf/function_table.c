// SPDX-License-Identifier: Apache-2.0
#include "elf/function_table.h"

#include <string.h>

/* The header is {version, encodings of eh_frame_ptr, fde_count, table}, eh_frame_ptr, fde_count.
 * Pairs {start, FDE} follow, relative to the section and sorted by start. Other encodings are
 * allowed, but no linker for x86-64 or arm64 writes them. */
enum {
    VERSION = 1,
    POINTER_SDATA4_PCREL = 0x1b,
    COUNT_UDATA4 = 0x03,
    TABLE_SDATA4_DATAREL = 0x3b,
    COUNT_OFFSET = 8,
    HEADER_BYTES = 12,
    PAIR_BYTES = 8,
};

bool function_table_read(struct function_table *table, const void *bytes, size_t size,
                         uint64_t address)
{
    static const uint8_t form[] = {VERSION, POINTER_SDATA4_PCREL, COUNT_UDATA4,
                                   TABLE_SDATA4_DATAREL};
    uint32_t listed;
    size_t room;

    if (size < HEADER_BYTES || memcmp(bytes, form, sizeof(form)) != 0)
        return false;
    memcpy(&listed, (const uint8_t *)bytes + COUNT_OFFSET, sizeof(listed));
    room = (size - HEADER_BYTES) / PAIR_BYTES;
    *table = (struct function_table){
        .pairs = (const uint8_t *)bytes + HEADER_BYTES,
        .count = listed < room ? listed : room,
        .address = address,
    };
    return true;
}

uint64_t function_table_start(const struct function_table *table, size_t index)
{
    int32_t offset;

    memcpy(&offset, table->pairs + index * PAIR_BYTES, sizeof(offset));
    return table->address + (uint64_t)(int64_t)offset;
}

size_t function_table_until(const struct function_table *table, uint64_t address)
{
    size_t low = 0, high = table->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (function_table_start(table, middle) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
