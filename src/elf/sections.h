// SPDX-License-Identifier: Apache-2.0
/* Finds sections of ELF files by their names. */
#pragma once

#include <gelf.h>

/* Return the section with this name that has data in the file, and its header. NULL if there is
 * none. */
Elf_Scn *elf_section_find(Elf *elf, const char *name, GElf_Shdr *ret_header);
