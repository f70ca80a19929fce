// SPDX-License-Identifier: Apache-2.0
/*
 * Open bytes as a core file, and read from it (libFuzzer). The bytes are the first bytes of the
 * header, program headers, and notes. The first byte of each note selects its type, so that most
 * notes are read.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "native/core_file.h"
#include "native/parser.h"
#include "util/buffer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LOADS = 3 };

struct bytes {
    const uint8_t *at;
    size_t left;
};

static void check(bool holds)
{
    if (!holds)
        abort();
}

static size_t take(struct bytes *bytes, void *to, size_t size)
{
    if (size > bytes->left)
        size = bytes->left;
    memcpy(to, bytes->at, size);
    bytes->at += size;
    bytes->left -= size;
    return size;
}

static void put_note(struct buffer *notes, struct bytes *bytes)
{
    static const uint32_t types[] = {NT_PRSTATUS, NT_PRPSINFO, NT_AUXV, NT_FILE};
    uint8_t type = 0, length[2] = {0}, content[1 << 12];
    Elf64_Nhdr header = {.n_namesz = 5};

    take(bytes, &type, 1);
    take(bytes, length, sizeof(length));
    header.n_type = types[type % 4];
    header.n_descsz =
        (uint32_t)take(bytes, content, (length[0] | length[1] << 8) % sizeof(content));
    if (type & 0x80)
        header.n_descsz += type;
    buffer_put(notes, &header, sizeof(header));
    buffer_put(notes, "CORE\0\0\0", 8);
    buffer_put(notes, content, (header.n_descsz + 3) / 4 * 4 % sizeof(content));
}

static int make_core(struct bytes *bytes)
{
    Elf64_Ehdr header = {
        .e_ident = ELFMAG,
        .e_type = ET_CORE,
        .e_machine = EM_X86_64,
        .e_phoff = sizeof(header),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 1 + LOADS,
    };
    Elf64_Phdr headers[1 + LOADS] = {0};
    struct buffer notes = {0};
    int fd = memfd_create("core", MFD_CLOEXEC);
    uint8_t change = 0;

    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    take(bytes, &change, 1);
    if (change >= 0xf0)
        take(bytes, &header, sizeof(header));
    take(bytes, headers + 1, LOADS * sizeof(*headers));
    for (int i = 1; i <= LOADS; i++)
        headers[i].p_type = PT_LOAD;
    while (bytes->left)
        put_note(&notes, bytes);
    headers[0] = (Elf64_Phdr){
        .p_type = PT_NOTE, .p_offset = sizeof(header) + sizeof(headers), .p_filesz = notes.size};
    check(fd >= 0 && write(fd, &header, sizeof(header)) == sizeof(header) &&
          write(fd, headers, sizeof(headers)) == sizeof(headers) &&
          write(fd, notes.data, notes.size) == (ssize_t)notes.size);
    buffer_free(&notes);
    return fd;
}

/* Check what the header file promises. */
static void check_core(const struct core_file *core)
{
    size_t length = 0;

    for (size_t i = 0; i < core->segment_count; i++) {
        const struct core_segment *segment = &core->segments[i];

        check(segment->start < segment->end);
        check(segment->file_size <= segment->end - segment->start);
        check(!segment->file_size || (segment->offset <= core->size &&
                                      segment->file_size <= core->size - segment->offset));
        check(!i || segment[-1].start <= segment->start);
    }
    for (size_t i = 0; i < core->mapping_count; i++) {
        const struct core_mapping *mapping = &core->mappings[i];

        check(mapping->start < mapping->end && (!i || mapping[-1].end <= mapping->start));
        length += strlen(mapping->path);
    }
    check(length <= core->size);
}

static void read_memory(const struct core_file *core)
{
    struct error error;
    struct parser *parser = parser_here();
    struct mappings *mappings = core_process_mappings(core, parser, "/proc/self/exe", &error);
    struct memory *memory = mappings ? core_process_memory(core, mappings) : NULL;
    char bytes[64];

    parser_release(parser);
    for (size_t i = 0; memory && i < core->segment_count; i++) {
        memory_read(memory, core->segments[i].start - 8, bytes, sizeof(bytes));
        memory_read(memory, core->segments[i].end - 8, bytes, sizeof(bytes));
    }
    for (size_t i = 0; memory && i < core->mapping_count; i++)
        memory_read(memory, core->mappings[i].end - 8, bytes, sizeof(bytes));
    memory_free(memory);
    mappings_free(mappings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    int fd = make_core(&bytes);
    struct core_file *core;
    struct error error;
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    core = core_file_open(path, &error);
    if (core) {
        check_core(core);
        read_memory(core);
    }
    core_file_free(core);
    close(fd);
    return 0;
}
