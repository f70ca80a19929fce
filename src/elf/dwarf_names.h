// SPDX-License-Identifier: Apache-2.0
/* Names in debug information: libdw does not look if a name ends within its section
 * (dwarf_formstring(), elfutils 0.188). */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

enum { DWARF_NAME_SECTIONS = 8 };

/* The sections that can have names. */
struct dwarf_names {
    struct dwarf_section {
        const char *start;
        size_t size;
        bool is_text; /* it has nothing but names */
    } sections[DWARF_NAME_SECTIONS];
    size_t count;
};

/* Find the sections, of which libdw has the bytes where libelf has them. */
struct dwarf_names dwarf_names_of(Elf *elf);

/* True if the last name of each such section ends within it. libdw takes the length of names of
 * source files without a look at that (dwarf_getsrclines(), elfutils 0.188). */
bool dwarf_names_end(const struct dwarf_names *names);

/* Return the text if it ends within its section, else NULL. `text` may be NULL. */
const char *dwarf_names_check(const struct dwarf_names *names, const char *text);
