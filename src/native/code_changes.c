// SPDX-License-Identifier: Apache-2.0
#include "native/native_code.h"

#include <stdlib.h>
#include <string.h>

#include "arch/uprobe.h"
#include "native/elf_file.h"
#include "util/alloc.h"

enum {
    BLOCK = 64 << 10, /* a multiple of the page size: mappings begin at pages */
    PAGE = 4096,
};

#define COMPARED_MAX ((uint64_t)1 << 30) /* a process can map files of any size */

struct comparing {
    struct memory *memory;
    code_change_each each;
    void *context;
    struct code_comparison result;
    const char *path;
    uint8_t in_file[BLOCK], in_memory[BLOCK];
};

bool code_change_is_breakpoint(const struct code_change *change)
{
    return uprobe_trap_is_breakpoint(change->in_memory, change->size);
}

/* Report the bytes [from, to) of the block at `address`. */
static void report(struct comparing *comparing, uint64_t address, uint64_t offset, size_t from,
                   size_t to)
{
    struct code_change change = {
        .path = comparing->path,
        .file_offset = offset + from,
        .address = address + from,
        .size = to - from,
    };
    size_t shown = change.size < CODE_CHANGE_BYTES ? change.size : CODE_CHANGE_BYTES;

    memcpy(change.in_file, comparing->in_file + from, shown);
    memcpy(change.in_memory, comparing->in_memory + from, shown);
    comparing->result.changes++;
    comparing->result.breakpoints += code_change_is_breakpoint(&change);
    comparing->each(comparing->context, &change);
}

static void compare_bytes(struct comparing *comparing, uint64_t address, uint64_t offset,
                          size_t size)
{
    comparing->result.bytes += size;
    if (memcmp(comparing->in_file, comparing->in_memory, size) == 0)
        return;
    for (size_t at = 0, from; at < size; at++) {
        from = at;
        while (at < size && comparing->in_file[at] != comparing->in_memory[at])
            at++;
        if (at > from)
            report(comparing, address, offset, from, at);
    }
}

/* Compare up to BLOCK bytes. Return the number of bytes that are in the file: bytes behind its end
 * are not code of the file. */
static size_t compare_block(struct comparing *comparing, struct elf_file *file, uint64_t address,
                            uint64_t offset, size_t size)
{
    size_t in_file = elf_file_read(file, offset, comparing->in_file, size);

    if (memory_read(comparing->memory, address, comparing->in_memory, in_file)) {
        compare_bytes(comparing, address, offset, in_file);
    } else if (in_file <= PAGE) {
        comparing->result.unread += in_file;
    } else { /* some pages may be readable */
        for (size_t at = 0; at < in_file; at += PAGE)
            compare_block(comparing, file, address + at, offset + at,
                          in_file - at < PAGE ? in_file - at : PAGE);
    }
    return in_file;
}

static void compare_mapping(struct comparing *comparing, struct elf_file *file,
                            const struct mapping *mapping)
{
    uint64_t size = mapping->end - mapping->start;

    comparing->path = mapping->path;
    comparing->result.files++;
    for (uint64_t at = 0; at < size; at += BLOCK) {
        size_t block = size - at < BLOCK ? (size_t)(size - at) : BLOCK;

        if (comparing->result.bytes + comparing->result.unread > COMPARED_MAX) {
            comparing->result.unread += size - at;
            return;
        }
        if (compare_block(comparing, file, mapping->start + at, mapping->offset + at, block) <
            block)
            return;
    }
}

static bool is_of_file(const struct mapping *mapping)
{
    return mapping->executable && mapping->path[0] == '/' &&
           strncmp(mapping->path, "/memfd:", 7) != 0;
}

struct code_comparison code_changes_compare(struct mappings *mappings, struct memory *memory,
                                            code_change_each each, void *context)
{
    struct comparing *comparing = xcalloc(1, sizeof(*comparing));
    struct code_comparison result;
    int count;
    struct mapping *all = mappings_all(mappings, &count);

    comparing->memory = memory;
    comparing->each = each;
    comparing->context = context;
    for (int i = 0; i < count; i++) {
        struct elf_file *file = is_of_file(&all[i]) ? mapping_file(mappings, &all[i]) : NULL;

        if (file)
            compare_mapping(comparing, file, &all[i]);
        else if (is_of_file(&all[i]))
            comparing->result.left_out++;
    }
    result = comparing->result;
    free(comparing);
    return result;
}
