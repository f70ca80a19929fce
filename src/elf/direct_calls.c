// SPDX-License-Identifier: Apache-2.0
#include "elf/direct_calls.h"

#include <stdlib.h>

#include "arch/code_bytes.h"
#include "util/alloc.h"
#include "util/files.h"

enum {
    CHUNK_BYTES = 1 << 16,
    CODE_MAX = 256 << 20,
};

struct direct_call_search {
    int fd;
    uint64_t function;
    size_t most;
    struct buffer *calls;
};

static bool add_calls(const struct direct_call_search *search, const struct code_bytes *code)
{
    uint64_t target;

    for (size_t at = 0; code_bytes_next_call(code, &at, &target); at++) {
        uint64_t address = code->address + at;

        if (target != search->function)
            continue;
        if (search->calls->size + sizeof(address) > search->most)
            return false;
        buffer_put(search->calls, &address, sizeof(address));
    }
    return true;
}

/* Chunks overlap by the size of a call minus one byte. */
static bool search_segment(const struct direct_call_search *search, const GElf_Phdr *segment,
                           uint8_t bytes[CHUNK_BYTES])
{
    for (uint64_t at = 0; at < segment->p_filesz && at < CODE_MAX;
         at += CHUNK_BYTES - CPU_CALL_BYTES + 1) {
        uint64_t left = segment->p_filesz - at;
        size_t size = left < CHUNK_BYTES ? left : CHUNK_BYTES;

        if (files_read_at(search->fd, segment->p_offset + at, bytes, size) != size ||
            !add_calls(search, &(struct code_bytes){bytes, size, segment->p_vaddr + at}))
            return false;
    }
    return true;
}

bool direct_calls_find(Elf *elf, int fd, uint64_t function, size_t most, struct buffer *calls)
{
    const struct direct_call_search search = {fd, function, most, calls};
    uint8_t *bytes = xmalloc(CHUNK_BYTES);
    bool complete = true;
    GElf_Phdr header;

    for (int i = 0; complete && gelf_getphdr(elf, i, &header); i++)
        if (header.p_type == PT_LOAD && header.p_flags & PF_X)
            complete = search_segment(&search, &header, bytes);
    free(bytes);
    return complete;
}
