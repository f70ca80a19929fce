// SPDX-License-Identifier: Apache-2.0
/*
 * Reduce an ELF file of some MB to the few KB that are read:
 *
 *   header, program headers, section headers and their names    unchanged
 *   .plt*, .eh_frame_hdr's header, notes                         unchanged
 *   .eh_frame, .eh_frame_hdr    FDEs of functions that contain a wanted address or follow one that
 *                               does (they show where it ends), and the CIEs of these
 *   .dynsym, .symtab            functions that contain a wanted address, and imports
 *   .rela.plt, .rela.dyn        relocations of the words of PLT stubs
 *
 * All other bytes become zero; nothing moves.
 */
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "replay_capture.h"
#include "util/alloc.h"

struct reduction {
    struct image_file *image;
    Elf *elf;
    const uint8_t *bytes; /* the whole file */
    size_t size;
    const uint64_t *addresses; /* ascending */
    size_t count;
};

static void keep(struct reduction *reduction, uint64_t at, uint64_t size)
{
    struct image_file *image = reduction->image;

    if (at > reduction->size || size > reduction->size - at)
        return;
    image->runs = xreallocarray(image->runs, image->run_count + 1, sizeof(*image->runs));
    image->runs[image->run_count] = (struct image_run){.at = at};
    buffer_put(&image->runs[image->run_count++].bytes, reduction->bytes + at, size);
}

static bool is_wanted(const struct reduction *reduction, uint64_t start, uint64_t size)
{
    for (size_t i = 0; i < reduction->count; i++)
        if (reduction->addresses[i] - start < size)
            return true;
    return false;
}

static Elf_Scn *section_named(struct reduction *reduction, const char *wanted, GElf_Shdr *header)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(reduction->elf, &names))
        return NULL;
    while ((section = elf_nextscn(reduction->elf, section))) {
        const char *name;

        if (gelf_getshdr(section, header) && header->sh_type != SHT_NOBITS &&
            (name = elf_strptr(reduction->elf, names, header->sh_name)) && !strcmp(name, wanted))
            return section;
    }
    return NULL;
}

static void keep_whole(struct reduction *reduction, const char *name)
{
    GElf_Shdr header;

    if (section_named(reduction, name, &header))
        keep(reduction, header.sh_offset, header.sh_size);
}

static void keep_headers(struct reduction *reduction)
{
    GElf_Ehdr header;

    if (!gelf_getehdr(reduction->elf, &header))
        return;
    keep(reduction, 0, header.e_ehsize);
    keep(reduction, header.e_phoff, (uint64_t)header.e_phnum * header.e_phentsize);
    keep(reduction, header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize);
    keep_whole(reduction, ".shstrtab");
}

/* ---- symbols ---- */

static void keep_symbols(struct reduction *reduction, const char *table, const char *names)
{
    GElf_Shdr header, strings;
    Elf_Scn *section = section_named(reduction, table, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    GElf_Sym symbol;

    if (!data || !section_named(reduction, names, &strings))
        return;
    for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(reduction->elf, header.sh_link, symbol.st_name);

        if (!name || (symbol.st_shndx != SHN_UNDEF &&
                      !is_wanted(reduction, symbol.st_value, symbol.st_size)))
            continue;
        keep(reduction, header.sh_offset + (uint64_t)i * header.sh_entsize, header.sh_entsize);
        keep(reduction, strings.sh_offset + symbol.st_name, strlen(name) + 1);
    }
}

static void keep_relocations(struct reduction *reduction, const char *name)
{
    GElf_Shdr header;
    Elf_Scn *section = section_named(reduction, name, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    GElf_Rela relocation;

    for (int i = 0; data && gelf_getrela(data, i, &relocation); i++) {
        uint64_t type = GELF_R_TYPE(relocation.r_info);

        if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT)
            keep(reduction, header.sh_offset + (uint64_t)i * header.sh_entsize, header.sh_entsize);
    }
}

/* ---- call-frame information ---- */

enum { TABLE_HEADER = 12, PAIR = 8 };

static int32_t signed_word(const uint8_t *at)
{
    int32_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static void keep_description(struct reduction *reduction, uint64_t at)
{
    uint32_t size;

    if (at + 8 > reduction->size)
        return;
    memcpy(&size, reduction->bytes + at, sizeof(size));
    keep(reduction, at, (uint64_t)size + sizeof(size));
}

/* Keep the entries of .eh_frame_hdr for functions with wanted addresses, and the descriptions they
 * refer to. */
static void keep_frames(struct reduction *reduction)
{
    GElf_Shdr table, frames;
    const uint8_t *pairs;
    struct image_run *run;
    uint32_t listed, kept = 0;
    bool wanted = false, before;

    if (!section_named(reduction, ".eh_frame", &frames) ||
        !section_named(reduction, ".eh_frame_hdr", &table) || table.sh_size < TABLE_HEADER)
        return;
    pairs = reduction->bytes + table.sh_offset + TABLE_HEADER;
    listed = (uint32_t)((table.sh_size - TABLE_HEADER) / PAIR);
    keep(reduction, table.sh_offset, TABLE_HEADER);
    for (uint32_t i = 0; i < listed; i++) {
        uint64_t start = table.sh_addr + (uint64_t)(int64_t)signed_word(pairs + i * PAIR);
        uint64_t end = i + 1 < listed
                           ? table.sh_addr + (uint64_t)(int64_t)signed_word(pairs + (i + 1) * PAIR)
                           : UINT64_MAX;
        uint64_t at = table.sh_addr + (uint64_t)(int64_t)signed_word(pairs + i * PAIR + 4) -
                      frames.sh_addr + frames.sh_offset;

        before = wanted;
        wanted = is_wanted(reduction, start, end - start);
        if ((!wanted && !before) || at + 8 > reduction->size)
            continue;
        keep_description(reduction, at);
        keep_description(reduction, at + 4 - (uint32_t)signed_word(reduction->bytes + at + 4));
        keep(reduction, table.sh_offset + TABLE_HEADER + i * PAIR, PAIR);
        run = &reduction->image->runs[reduction->image->run_count - 1];
        run->at = table.sh_offset + TABLE_HEADER + kept++ * PAIR;
    }
    for (size_t i = 0; i < reduction->image->run_count; i++)
        if (reduction->image->runs[i].at == table.sh_offset)
            memcpy(reduction->image->runs[i].bytes.data + 8, &kept, sizeof(kept));
}

/* Merge runs that touch or overlap. */
static int by_offset(const void *a, const void *b)
{
    const struct image_run *left = a, *right = b;

    return (left->at > right->at) - (left->at < right->at);
}

static void join_runs(struct image_file *image)
{
    size_t count = 0;

    qsort(image->runs, image->run_count, sizeof(*image->runs), by_offset);
    for (size_t i = 0; i < image->run_count; i++) {
        struct image_run *run = &image->runs[i], *last = count ? &image->runs[count - 1] : NULL;
        uint64_t known;

        if (!last || run->at > last->at + last->bytes.size) {
            image->runs[count++] = *run;
            continue;
        }
        known = last->at + last->bytes.size - run->at;
        if (known < run->bytes.size)
            buffer_put(&last->bytes, run->bytes.data + known, run->bytes.size - known);
        buffer_free(&run->bytes);
    }
    image->run_count = count;
}

int replay_reduce(struct elf_file *file, const uint64_t *addresses, size_t count,
                  struct image_file *image, struct error *error)
{
    struct reduction reduction = {.image = image, .addresses = addresses, .count = count};

    elf_version(EV_CURRENT);
    reduction.elf = elf_begin(file->fd, ELF_C_READ, NULL);
    reduction.bytes = (const uint8_t *)elf_rawfile(reduction.elf, &reduction.size);
    if (!reduction.bytes)
        return error_set(error, ERROR_FAILED, "can't read %s", file->path);
    image->size = reduction.size;
    keep_headers(&reduction);
    keep_whole(&reduction, ".plt");
    keep_whole(&reduction, ".plt.got");
    keep_whole(&reduction, ".plt.sec");
    keep_whole(&reduction, ".note.gnu.build-id");
    keep_symbols(&reduction, ".dynsym", ".dynstr");
    keep_symbols(&reduction, ".symtab", ".strtab");
    keep_relocations(&reduction, ".rela.plt");
    keep_relocations(&reduction, ".rela.dyn");
    keep_frames(&reduction);
    join_runs(image);
    elf_end(reduction.elf);
    return 0;
}
