// SPDX-License-Identifier: Apache-2.0
#include "os/native_code.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/code_bytes.h"
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
