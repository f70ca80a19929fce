// SPDX-License-Identifier: Apache-2.0
#include "elf/dwarf_names.h"

#include <gelf.h>
#include <string.h>

struct dwarf_names dwarf_names_of(Elf *elf)
{
    static const struct {
        const char *name;
        bool is_text;
    } sections[] = {{".debug_info", false},
                    {".debug_types", false},
                    {".debug_str", true},
                    {".debug_line_str", true}};
    struct dwarf_names names = {.count = 0};
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    Elf_Data *data;
    size_t strings;

    if (elf_getshdrstrndx(elf, &strings))
        return names;
    while ((section = elf_nextscn(elf, section)) && names.count < DWARF_NAME_SECTIONS) {
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, strings, header.sh_name) : NULL;

        for (size_t i = 0; name && i < sizeof(sections) / sizeof(sections[0]); i++)
            if (!strcmp(name, sections[i].name) && (data = elf_rawdata(section, NULL)) &&
                data->d_buf)
                names.sections[names.count++] =
                    (struct dwarf_section){data->d_buf, data->d_size, sections[i].is_text};
    }
    return names;
}

bool dwarf_names_end(const struct dwarf_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        const struct dwarf_section *section = &names->sections[i];

        if (section->is_text && section->size && section->start[section->size - 1])
            return false;
    }
    return true;
}

const char *dwarf_names_check(const struct dwarf_names *names, const char *text)
{
    for (size_t i = 0; text && i < names->count; i++) {
        const struct dwarf_section *section = &names->sections[i];

        if (text >= section->start && text < section->start + section->size)
            return memchr(text, '\0', (size_t)(section->start + section->size - text)) ? text
                                                                                       : NULL;
    }
    return NULL;
}
