// SPDX-License-Identifier: Apache-2.0
/* Finds sections of ELF files by their names. */
#pragma once

#include <gelf.h>

/* Find the section with this name, and set *ret_header. NULL if there is none, or if it has no data
 * in the file. */
Elf_Scn *elf_section_find(Elf *elf, const char *name, GElf_Shdr *ret_header);
