// SPDX-License-Identifier: Apache-2.0
#include "elf/sections.h"

#include <string.h>

Elf_Scn *elf_section_find(Elf *elf, const char *name, GElf_Shdr *ret_header)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    while ((section = elf_nextscn(elf, section))) {
        const char *found = NULL;

        if (gelf_getshdr(section, ret_header))
            found = elf_strptr(elf, names, ret_header->sh_name);
        if (found && strcmp(found, name) == 0 && ret_header->sh_type != SHT_NOBITS)
            return section;
    }
    return NULL;
}
