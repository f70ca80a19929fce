// SPDX-License-Identifier: Apache-2.0
#include "elf/usdt_notes.h"

#include <gelf.h>
#include <string.h>

/* The content of a note: addresses of the probe, of .stapsdt.base at link time, and of the
 * semaphore; then provider, name and arguments, each with a NUL (sys/sdt.h, _SDT_NOTE). */
enum { NOTE_TYPE = 3, ADDRESSES = 3, ADDRESS_BYTES = ADDRESSES * sizeof(uint64_t) };

struct notes {
    Elf *elf;
    uint64_t base; /* address of .stapsdt.base now: prelink(8) may have moved it */
    usdt_visit visit;
    void *context;
};

/* The file offset of an address; 0 if it is not in the file. */
static uint64_t offset_of(Elf *elf, uint64_t address)
{
    size_t count;

    if (elf_getphdrnum(elf, &count) != 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;

        if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
            address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
            return address - segment.p_vaddr + segment.p_offset;
    }
    return 0;
}

/* Return the text at `*at` and set `*at` to the start of the next one. NULL if the text has no
 * end. */
static const char *text_at(const char *bytes, size_t size, size_t *at)
{
    const char *text = bytes + *at, *end = *at < size ? memchr(text, 0, size - *at) : NULL;

    if (!end)
        return NULL;
    *at = (size_t)(end - bytes) + 1;
    return text;
}

/* Return the name as in DTrace: "message-send" is "message__send" in C and in the notes. */
static const char *spoken_name(const char *noted, char *name, size_t room)
{
    size_t length = 0;

    for (; *noted && length + 1 < room; noted++) {
        bool is_hyphen = noted[0] == '_' && noted[1] == '_';

        name[length] = *noted;
        if (is_hyphen)
            name[length] = '-';
        length++;
        noted += is_hyphen;
    }
    name[length] = '\0';
    return name;
}

static bool visit_note(const struct notes *notes, const char *content, size_t size)
{
    uint64_t address[ADDRESSES], moved;
    struct usdt_probe probe;
    size_t at = ADDRESS_BYTES;
    const char *noted;
    char name[128];

    if (size < ADDRESS_BYTES)
        return true;
    memcpy(address, content, sizeof(address));
    moved = notes->base ? notes->base - address[1] : 0;
    probe.provider = text_at(content, size, &at);
    noted = probe.provider ? text_at(content, size, &at) : NULL;
    probe.file_offset = offset_of(notes->elf, address[0] + moved);
    probe.semaphore_offset = address[2] ? offset_of(notes->elf, address[2] + moved) : 0;
    if (!noted || !probe.file_offset || (address[2] && !probe.semaphore_offset))
        return true;
    probe.name = spoken_name(noted, name, sizeof(name));
    return notes->visit(notes->context, &probe);
}

static bool visit_section(const struct notes *notes, Elf_Data *data)
{
    size_t at = 0, name, content, next;
    GElf_Nhdr note;

    while (data && (next = gelf_getnote(data, at, &note, &name, &content)) > 0) {
        const char *bytes = data->d_buf;

        if (note.n_type == NOTE_TYPE && note.n_namesz == sizeof("stapsdt") &&
            !memcmp(bytes + name, "stapsdt", sizeof("stapsdt")) &&
            !visit_note(notes, bytes + content, note.n_descsz))
            return false;
        at = next;
    }
    return true;
}

static uint64_t address_of_section(Elf *elf, size_t strings, const char *wanted)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section))) {
        const char *name;
        GElf_Shdr header;

        if (gelf_getshdr(section, &header) && (name = elf_strptr(elf, strings, header.sh_name)) &&
            !strcmp(name, wanted))
            return header.sh_addr;
    }
    return 0;
}

void usdt_notes_each(Elf *elf, usdt_visit visit, void *context)
{
    struct notes notes = {.elf = elf, .visit = visit, .context = context};
    Elf_Scn *section = NULL;
    size_t strings;

    if (elf_getshdrstrndx(elf, &strings))
        return;
    notes.base = address_of_section(elf, strings, ".stapsdt.base");
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;

        if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE &&
            !visit_section(&notes, elf_rawdata(section, NULL)))
            return;
    }
}
