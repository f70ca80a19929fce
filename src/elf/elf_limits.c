// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_limits.h"

#include <elf.h>
#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/log.h"
#include "util/number.h"
#include "util/files.h"
#include "util/span.h"

enum {
    SECTIONS_MAX = 1 << 14, /* a linked file has some 40. libelf takes 250 bytes for each */
    SEGMENTS_MAX = 1 << 10,
    NAMES_MAX = 1 << 20, /* bytes of section names */
    SYMBOL_COST = 4, /* a symbol becomes an entry of a table that is sorted (native_symbols.c) */
};

/* True if the counts are in the header itself, as in a linked file. They have a second place for
 * numbers that are larger. */
static bool is_plain(const Elf64_Ehdr *header)
{
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_phnum <= SEGMENTS_MAX &&
           header->e_shnum <= SECTIONS_MAX && (header->e_shnum > 0 || header->e_shoff == 0) &&
           header->e_shstrndx < SHN_LORESERVE;
}

/* The size of a packed section once it is unpacked. elf_getchdr() would read all of the section. */
static uint64_t unpacked_bytes(Elf *elf, const GElf_Shdr *header)
{
    const Elf_Data *data;

    if (header->sh_size < sizeof(Elf64_Chdr))
        return 0;
    data = elf_getdata_rawchunk(elf, (int64_t)header->sh_offset, sizeof(Elf64_Chdr), ELF_T_CHDR);
    return data ? ((const Elf64_Chdr *)data->d_buf)->ch_size : UINT64_MAX;
}

static uint64_t section_bytes(Elf *elf, const GElf_Shdr *header)
{
    if (header->sh_type == SHT_NOBITS)
        return 0;
    if (header->sh_flags & SHF_COMPRESSED)
        return saturating_sum(header->sh_size, unpacked_bytes(elf, header));
    return header->sh_size;
}

/* Names can be read if their section is small and not packed. False also if there are none. */
static bool have_names(Elf *elf, size_t *names)
{
    GElf_Shdr header;

    return elf_getshdrstrndx(elf, names) == 0 && gelf_getshdr(elf_getscn(elf, *names), &header) &&
           header.sh_size <= NAMES_MAX && !(header.sh_flags & SHF_COMPRESSED);
}

static bool is_debug(const char *name)
{
    return begins_with(name, ".debug_") || begins_with(name, ".zdebug_");
}

/* True if libelf reads the section: one of a type for linkers, or one that is searched by name. */
static bool is_read(const GElf_Shdr *header, const char *name)
{
    return header->sh_type != SHT_PROGBITS || begins_with(name, ".eh_frame") ||
           begins_with(name, ".gnu_debug") || begins_with(name, ".plt");
}

/* The bytes of all sections with debug information, or of all others that libelf reads. A .zdebug
 * section has its size where its packed bytes begin; such old files are not read. */
static uint64_t sections_bytes(Elf *elf, bool debug)
{
    Elf_Scn *section = NULL;
    uint64_t sum = 0;
    size_t names;

    if (!have_names(elf, &names))
        return elf_nextscn(elf, NULL) ? UINT64_MAX : 0;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name;
        uint64_t bytes;

        if (!gelf_getshdr(section, &header) || !(name = elf_strptr(elf, names, header.sh_name)) ||
            is_debug(name) != debug || (!debug && !is_read(&header, name)))
            continue;
        bytes = begins_with(name, ".zdebug_") ? UINT64_MAX : section_bytes(elf, &header);
        if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
            bytes = bytes > UINT64_MAX / SYMBOL_COST ? UINT64_MAX : bytes * SYMBOL_COST;
        sum = saturating_sum(sum, bytes);
    }
    return sum;
}

/* The bytes of the segments that are read: notes, and the index of .eh_frame. */
static uint64_t segments_bytes(Elf *elf)
{
    uint64_t sum = 0;
    GElf_Phdr segment;

    for (int i = 0; gelf_getphdr(elf, i, &segment); i++)
        if (segment.p_type == PT_NOTE || segment.p_type == PT_GNU_EH_FRAME)
            sum = saturating_sum(sum, segment.p_filesz);
    return sum;
}

/* Take the bytes of an open file from the room. Close the file if they do not fit. */
static Elf *take(Elf *elf, struct elf_room *room, size_t *ret_bytes)
{
    size_t taken = room ? room->taken : 0;
    uint64_t bytes;

    if (!elf || elf_kind(elf) != ELF_K_ELF) {
        elf_end(elf);
        return NULL;
    }
    bytes = saturating_sum(sections_bytes(elf, false), segments_bytes(elf));
    if (bytes > ELF_BYTES_MAX || bytes > ELF_ROOM_BYTES - taken) {
        log_decision("elf",
                     "a file is not read, because its tables would take %llu KB, and others "
                     "take %zu KB",
                     (unsigned long long)(bytes >> 10), taken >> 10);
        elf_end(elf);
        return NULL;
    }
    if (room)
        room->taken += bytes;
    *ret_bytes = bytes;
    return elf;
}

bool elf_limits_take(struct elf_room *room, size_t bytes)
{
    if (!room)
        return true;
    if (bytes > ELF_ROOM_BYTES - room->taken)
        return false;
    room->taken += bytes;
    return true;
}

void elf_limits_give(struct elf_room *room, size_t bytes)
{
    if (room)
        room->taken -= bytes;
}

Elf *elf_limits_open(int fd, struct elf_room *room, size_t *ret_bytes)
{
    Elf64_Ehdr header;

    elf_version(EV_CURRENT);
    if (files_read_at(fd, 0, &header, sizeof(header)) != sizeof(header) || !is_plain(&header))
        return NULL;
    return take(elf_begin(fd, ELF_C_READ, NULL), room, ret_bytes);
}

Elf *elf_limits_open_image(void *image, size_t size, struct elf_room *room, size_t *ret_bytes)
{
    Elf64_Ehdr header;

    elf_version(EV_CURRENT);
    if (size < sizeof(header))
        return NULL;
    memcpy(&header, image, sizeof(header));
    return is_plain(&header) ? take(elf_memory(image, size), room, ret_bytes) : NULL;
}

void elf_limits_close(Elf *elf, struct elf_room *room, size_t bytes)
{
    if (!elf)
        return;
    elf_limits_give(room, bytes);
    elf_end(elf);
}

uint64_t elf_limits_debug_bytes(Elf *elf)
{
    return sections_bytes(elf, true);
}

bool elf_limits_fit_debug(Elf *elf)
{
    uint64_t bytes = elf_limits_debug_bytes(elf);

    if (bytes <= ELF_DEBUG_BYTES_MAX)
        return true;
    log_decision("elf", "debug information is not read, because it would take %llu KB",
                 (unsigned long long)(bytes >> 10));
    return false;
}
