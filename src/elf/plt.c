// SPDX-License-Identifier: Apache-2.0
#include "elf/symbols_internal.h"

#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arch/code_bytes.h"
#include "arch/cpu.h"
#include "util/alloc.h"

enum { STUB_SIZE = 16 }; /* of .plt and .plt.sec; the header of .plt.got tells its own */

/* The function whose address one word of the global offset table will hold. */
struct got_word {
    uint64_t address;
    const char *name;
};

struct got {
    struct got_word *words; /* by address */
    size_t count, room;
};

static int compare_words(const void *a, const void *b)
{
    const struct got_word *left = a;
    const struct got_word *right = b;

    return (left->address > right->address) - (left->address < right->address);
}

static const char *symbol_name(Elf *elf, Elf_Data *symbols, size_t names, size_t index)
{
    GElf_Sym symbol;

    if (!gelf_getsym(symbols, (int)index, &symbol))
        return NULL;
    return elf_strptr(elf, names, symbol.st_name);
}

/* Add the words that one section of relocations fills in. */
static void add_relocations(struct got *got, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Scn *symbol_section = elf_getscn(elf, header->sh_link);
    Elf_Data *relocations = elf_getdata(section, NULL);
    Elf_Data *symbols = symbol_section ? elf_getdata(symbol_section, NULL) : NULL;
    GElf_Shdr symbol_header;
    GElf_Rela relocation;

    if (!relocations || !symbols || !gelf_getshdr(symbol_section, &symbol_header))
        return;
    for (int i = 0; gelf_getrela(relocations, i, &relocation); i++) {
        uint64_t type = GELF_R_TYPE(relocation.r_info);
        const char *name;

        if (type != cpu.plt_relocation && type != cpu.got_relocation)
            continue;
        name = symbol_name(elf, symbols, symbol_header.sh_link, GELF_R_SYM(relocation.r_info));
        if (!name || !*name)
            continue;
        got->words = xgrow(got->words, &got->room, got->count, sizeof(*got->words));
        got->words[got->count++] = (struct got_word){relocation.r_offset, name};
    }
}

static struct got read_got(Elf *elf)
{
    struct got got = {0};
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section))) {
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
            add_relocations(&got, elf, section, &header);
    }
    if (got.count > 0)
        qsort(got.words, got.count, sizeof(*got.words), compare_words);
    return got;
}

static void each_stub(Elf_Scn *section, const GElf_Shdr *header, const struct got *got,
                      plt_found found, void *context)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t size = header->sh_entsize == 8 ? 8 : STUB_SIZE;

    if (!data || !data->d_buf)
        return;
    for (size_t at = 0; at + size <= data->d_size; at += size) {
        struct got_word key = {0};
        const struct got_word *word;

        const struct code_bytes stub = {(const uint8_t *)data->d_buf + at, size,
                                        header->sh_addr + at};

        if (!code_bytes_plt_stub(&stub, &key.address))
            continue;
        word = bsearch(&key, got->words, got->count, sizeof(key), compare_words);
        if (word)
            found(context, header->sh_addr + at, size, word->name);
    }
}

void plt_each(Elf *elf, plt_found found, void *context)
{
    struct got got = read_got(elf);
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names;

    if (got.count > 0 && elf_getshdrstrndx(elf, &names) == 0) {
        while ((section = elf_nextscn(elf, section))) {
            const char *name = NULL;

            if (gelf_getshdr(section, &header) && header.sh_type == SHT_PROGBITS)
                name = elf_strptr(elf, names, header.sh_name);
            if (name && strncmp(name, ".plt", 4) == 0)
                each_stub(section, &header, &got, found, context);
        }
    }
    free(got.words);
}
