// SPDX-License-Identifier: Apache-2.0
#include "elf/inlined.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "elf/dwarf_names.h"
#include "elf/elf_limits.h"
#include "elf/requests.h"
#include "elf/symbols_internal.h"
#include "util/alloc.h"

enum {
    DEPTH_MAX = 64, /* functions that are inlined into each other */
    TEXT_MAX = 4096 /* bytes of a name, or of the path of a file */
};

struct inlined {
    Elf *elf;
    Dwarf *dwarf;
    struct elf_room *room; /* of which the debug information takes debug_bytes */
    size_t bytes, debug_bytes;
    struct dwarf_names names;
    Dwarf_Die unit; /* of the address before; addr: NULL: none */
};

/* Read the debug information. False if there is none, or too much. */
static bool read_all(struct inlined *inlined)
{
    uint64_t bytes = elf_limits_debug_bytes(inlined->elf);

    if (!bytes || !elf_limits_fit_debug(inlined->elf) || !elf_limits_take(inlined->room, bytes))
        return false;
    inlined->debug_bytes = bytes;
    inlined->dwarf = dwarf_begin_elf(inlined->elf, DWARF_C_READ, NULL);
    if (!inlined->dwarf)
        return false;
    inlined->names = dwarf_names_of(inlined->elf);
    elf_cntl(inlined->elf, ELF_C_FDDONE); /* all sections are in memory */
    return dwarf_names_end(&inlined->names);
}

struct inlined *inlined_new(int fd, struct elf_room *room)
{
    struct inlined *inlined = xcalloc(1, sizeof(*inlined));

    inlined->room = room;
    inlined->elf = elf_limits_open(fd, NULL, &inlined->bytes);
    if (inlined->elf && read_all(inlined))
        return inlined;
    inlined_free(inlined);
    return NULL;
}

void inlined_free(struct inlined *inlined)
{
    if (!inlined)
        return;
    dwarf_end(inlined->dwarf);
    elf_limits_close(inlined->elf, NULL, inlined->bytes);
    elf_limits_give(inlined->room, inlined->debug_bytes);
    free(inlined);
}

/* Find the unit that contains the address, by .debug_aranges, which not all compilers write, or by
 * the ranges of each unit. */
static bool find_unit(struct inlined *inlined, uint64_t address)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;

    if (inlined->unit.addr && dwarf_haspc(&inlined->unit, address) > 0)
        return true;
    if (dwarf_addrdie(inlined->dwarf, address, &inlined->unit))
        return true;
    while (dwarf_get_units(inlined->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
        if (dwarf_haspc(&die, address) > 0) {
            inlined->unit = die;
            return true;
        }
    }
    inlined->unit.addr = NULL;
    return false;
}

/* Find the function at the address and what is inlined there, youngest first, with the blocks
 * between them. Return their number; *ret_scopes is to be freed. */
static int find_scopes(struct inlined *inlined, uint64_t address, Dwarf_Die **ret_scopes)
{
    Dwarf_Die *scopes = NULL;
    int count = dwarf_getscopes(&inlined->unit, address, &scopes);
    Dwarf_Die youngest;

    *ret_scopes = NULL;
    if (count <= 0)
        return 0;
    youngest = scopes[0]; /* the others are where that function is defined */
    free(scopes);
    count = dwarf_getscopes_die(&youngest, ret_scopes);
    return count < 0 ? 0 : count;
}

/* ---- names and places ---- */

/* Return the readable name of a function, to be freed; NULL if it has none. */
static char *name_of(const struct inlined *inlined, Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    const char *mangled = dwarf_names_check(
        &inlined->names,
        dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute)));
    char *readable = mangled ? demangle(mangled) : NULL;
    const char *name;

    if (readable)
        return readable;
    name = dwarf_names_check(&inlined->names, dwarf_diename(function));
    return name ? xstrndup(name, strnlen(name, TEXT_MAX)) : NULL;
}

/* A place in the source. */
struct source_line {
    const char *file; /* NULL: unknown */
    uint32_t line;
};

static struct source_line line_at(struct inlined *inlined, uint64_t address)
{
    Dwarf_Line *line = dwarf_getsrc_die(&inlined->unit, address);
    int number = 0;

    if (!line || dwarf_lineno(line, &number) || number < 0)
        return (struct source_line){NULL, 0};
    return (struct source_line){dwarf_linesrc(line, NULL, NULL), (uint32_t)number};
}

static uint64_t number_of(Dwarf_Die *die, unsigned int name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;

    return dwarf_formudata(dwarf_attr(die, name, &attribute), &number) ? 0 : number;
}

/* The line that calls an inlined function. */
static struct source_line line_of_call(struct inlined *inlined, Dwarf_Die *function)
{
    uint64_t line = number_of(function, DW_AT_call_line);
    uint64_t file = number_of(function, DW_AT_call_file);
    Dwarf_Files *files;
    size_t count;

    if (line > UINT32_MAX || dwarf_getsrcfiles(&inlined->unit, &files, &count) || file >= count)
        return (struct source_line){NULL, 0};
    return (struct source_line){dwarf_filesrc(files, file, NULL, NULL), (uint32_t)line};
}

static uint64_t start_of(Dwarf_Die *function)
{
    Dwarf_Addr start;

    return dwarf_entrypc(function, &start) ? 0 : start;
}

/* ---- the answer ---- */

/* Append a function. False if it does not fit. */
static bool put(uint64_t start, const char *name, struct source_line at, size_t size,
                struct buffer *answer)
{
    struct elf_inlined put = {
        .start = start,
        .line = at.line,
        .name_bytes = (uint32_t)strnlen(name, TEXT_MAX),
        .file_bytes = at.file ? (uint32_t)strnlen(at.file, TEXT_MAX) : 0,
    };

    if (answer->size + sizeof(put) + put.name_bytes + put.file_bytes > size)
        return false;
    buffer_put(answer, &put, sizeof(put));
    buffer_put(answer, name, put.name_bytes);
    if (put.file_bytes)
        buffer_put(answer, at.file, put.file_bytes);
    return true;
}

void inlined_find(struct inlined *inlined, uint64_t address, size_t size, struct buffer *answer)
{
    struct source_line at;
    Dwarf_Die *scopes;
    int count, depth = 0;

    if (!find_unit(inlined, address))
        return;
    at = line_at(inlined, address);
    count = find_scopes(inlined, address, &scopes);
    for (int i = 0; i < count && depth < DEPTH_MAX; i++) {
        char *name;
        bool fits;

        if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
            continue;
        name = name_of(inlined, &scopes[i]);
        fits = put(start_of(&scopes[i]), name && name[0] ? name : "?", at, size, answer);
        free(name);
        if (!fits)
            break;
        at = line_of_call(inlined, &scopes[i]);
        depth++;
    }
    free(scopes);
    put(0, "", at, size, answer);
}
